"""Tools of MCP servers: programs or addresses that the owner named in the settings.

server    messages and their errors, the revision, the tools on offer, the results of calls
process   the connection to a program that is started here
address   the connection to a server on the network
shelf     a server's tools as offered to the brain, under the owner's policy
"""
