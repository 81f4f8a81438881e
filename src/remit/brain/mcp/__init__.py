"""Tools of MCP servers: programs or addresses that the owner named in the settings.

server    messages and their errors, the revision, the tools on offer, the results of calls
address   the connection to a server on the network
shelf     the connection to a program, and a server's tools as the brain gets them, with a policy
"""
