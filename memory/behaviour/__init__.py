"""Behaviour memory below the rules: strategies, which say what is preferred, and action chains, which say how."""
