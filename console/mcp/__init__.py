"""What agents of others may use of an organisation, as tools of the Model Context Protocol."""
