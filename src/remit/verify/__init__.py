"""Reply and Contract to Verdict."""
