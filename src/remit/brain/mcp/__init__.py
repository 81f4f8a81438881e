"""Tools of MCP servers: programs or addresses that the owner named in the settings.

wire      the messages, and what can go wrong with them
process   a line to a program that is started here
address   a line to a server on the net
server    which revision is spoken, what is offered, what came of a call
pins      how each tool described itself when the owner last allowed it
shelf     a server's tools as the brain is offered them, under the owner's policy
"""
