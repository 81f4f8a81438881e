"""The settings file that is written on first use, with explanations."""

from typing import Final

DEFAULT_FILE: Final = """\
# Remit's settings. Every line is optional; what is commented out shows the default.

# owner = "you"               # what the agent calls you
# agent = "Remit"             # what you call the agent
# zone = ""                   # of your clock, such as Europe/Berlin; else the machine's own

[engine]
# parallel = 64               # tasks at work at once
# step_limit = 600            # seconds one step may take
# attempts = 5                # tries before a task fails
# stop_limit = 20             # seconds a stop waits for running steps

[engine.sources]              # at most so many at once from one source
# caldav = 8

[brain]
# kind = "auto"               # auto: a key in the environment decides (ANTHROPIC_API_KEY or
#                             # OPENAI_API_KEY); or local (`remit brain use local`), none, or
#                             # scripted (answers from a file)
# model = ""                  # vendor:name, such as anthropic:claude-sonnet-5-5 or ollama:qwen3
# extract = ""                # another model for one role alone: this, and the next three
# think = ""
# score = ""
# summarise = ""
# base_url = ""               # any server that speaks OpenAI's chat protocol
# key_env = ""                # the variable that holds that server's key
# time_limit = 300            # seconds for one request
# token_limit = 16000         # tokens of one answer
# threads = 1                 # of the local model; more only where nothing else works
# script = "brain.yml"

[budget]                      # over it a task waits for you; 0 is no limit
# run_tokens = 200000         # of one task
# run_requests = 60
# run_cents = 0               # money counts only where a model's price is known
# series_tokens = 0           # of a series in 30 days
# series_cents = 0
# day_tokens = 2000000        # of all tasks in a day of yours
# day_cents = 0

[deliver]
# undo = 10                   # seconds between your approval and the first byte; 0 is none
# quiet = ""                  # such as 22:00-07:00, on your clock: what is not urgent waits
# daily_cap = 20              # messages to one person in a day; then it asks. 0 is no limit
# keep_inbound = 90           # days that what came in by a channel is kept; 0 is for ever

[schedule]                    # of all that comes back; `remit schedule set` says it of one series
# missed = "run_once"         # slots that passed while nobody was there: skip, run_once or run_all
# overlap = "queue_one"       # due while one is at work: skip, queue_one, queue_all or cancel_other
# catch_up = 72               # hours; what is older is not run once any more
# most = 50                   # slots of one series that are caught up, or wait in a row
# jitter = 0                  # seconds over which slots of one moment are spread
# stagger = 60                # seconds over which series are spread that were missed together

[priority]
# score = false               # whether a model is asked how urgent a task is

[contracts]
# written = true              # a text that goes out is first checked against what was asked

[reflect]
# nightly = true              # what ended is looked at every night; it proposes, you decide
# at = "03:00"                # on your clock
# model = false               # whether a model is asked, too; else things are only counted
# keep = 90                   # days that the lines in reflections/ are kept

[recall]                      # earlier tasks like a new one are found by what they are about
# store = "embedded"          # or off, or the address of a Qdrant server (extra: qdrant)
# store_key = ""              # the variable that holds that server's key
# embedder = ""               # who reads: a model in this process, for English; or an address that
#                             # speaks OpenAI's protocol, such as http://127.0.0.1:11434/v1
# model = ""                  # of that address, such as bge-m3 for many languages
# embedder_key = ""           # the variable that holds its key
# twins = true                # say so when a new task looks like another

[notices]                     # for each kind: conversation, push, digest, your channels' names; or
#                             # none. Where you have just spoken you are told there alone
# question = ["conversation", "push"]  # a task needs you; it waits in the inbox in any case
# done = ["conversation"]
# failed = ["conversation", "push"]
# lost = ["conversation", "push"]      # a message did not arrive after all
# missed = ["conversation"]   # a run was missed, or left out by a rule
# refused = ["conversation"]  # an event of a calendar starts nothing
# urgent = []                 # kinds that are told in the quiet hours, too
# digest_at = "08:00"         # on your clock; nothing to say, nothing told
# digest_over = ["conversation"]       # the first of these that can be used
# link = ""                   # where you reach the dashboard from elsewhere; notices link there
# push = "bare"               # what a lock screen shows; "title" shows the task's too
# push_contact = ""           # whom a push service may write to, such as mailto:you@example.org

[tools]                       # what the brain may have done: allow, ask (you first) or deny
# read_task_log = "allow"
# search_tasks = "allow"
# create_task = "allow"       # asks all the same in a task that has read what is not yours
# ask_owner = "allow"
# tick_item = "allow"
# list_files = "allow"
# read_file = "allow"
# write_file = "allow"

[mcp]                         # servers with more tools; each asks unless you say otherwise
# files = { command = ["mcp-files", "--read-only"], policy = "ask", tools = { list = "allow" } }

[channels]                    # ways out besides the dashboard; secrets stand here by name alone
#   ninas_whatsapp = { kind = "whatsapp", number_id = "106540352242922", token = "whatsapp_token" }

[hooks]                       # what programs may call: `remit hooks add shop` makes one
#   shop = { secret = "hook_shop", text = "Say in one line what was ordered.", hourly = 60 }

[doors]                       # who may start work by a channel, besides you; strangers never do
#   ninas_whatsapp = { contacts = "start", hourly = 20 }

[folders]                     # new files are work
#   scans = { path = "/data/scans", text = "File this under its sender." }

[calendar]
# own = true                  # a small calendar server on loopback, while Remit is up
# port = 7317                 # where phones and calendar programs on this machine find it
# all_day_at = "09:00"        # when whole days start, on your clock
# me = ""                     # your addresses, parted by commas: what you organise is yours

[calendars]                   # any other CalDAV server; only the calendars you name start work
#   work = { url = "https://dav.example.org/", user = "me", password = "work", calendars = ["A"] }

[projects]                    # where code is worked on; checks are found by themselves
#   shop = { path = "/data/shop", commands = { e2e = ["npm", "run", "e2e"] }, flaky = ["e2e"] }

[specialists]                 # who works there: the brain, any command, or an agent over ACP
#   codex = { kind = "acp", argv = ["codex-acp"], env = ["OPENAI_API_KEY"], network = true }

[server]
# port = 7316                 # on loopback only
# own_name = true             # pages at a name of their own under .localhost, which keeps their
#                             # cookie from other programs here; false if your browser finds none

[commands]                    # what you may have run by its name: `remit add "run backup"`
#   backup = ["restic", "backup", "/home"]
#   report = { argv = ["make", "report"], cwd = "/data/shop", timeout = 600, repeat = false }
"""
