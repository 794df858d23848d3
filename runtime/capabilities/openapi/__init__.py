"""Operations of HTTP services as OpenAPI 3.x documents tell them. `completed` in `reading` is the way in."""
