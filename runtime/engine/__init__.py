"""The step engine: plans carried out step by step, each step once, from wherever they stopped.

Importing this package costs nothing: whoever checks a plan or folds an order does not need what carries it out, so each
takes what it uses from its own module (`engine.Engine`, `fold.fold_order`, `view.OrderView`).
"""
