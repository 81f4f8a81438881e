"""Tools of MCP servers: programs or addresses that the owner named in the settings.

wire      the messages and their errors
process   the connection to a program that is started here
address   the connection to a server on the network
server    the revision, the tools on offer, and the results of calls
pins      each tool's description when the owner last allowed it
shelf     a server's tools as offered to the brain, under the owner's policy
"""
