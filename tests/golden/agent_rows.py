"""What other agents ask over MCP and A2A: `{made}` is the task that the first of them entrusted."""

from typing import Final

from remit.model.codec import JsonMap

MCP: Final[tuple[tuple[str, JsonMap], ...]] = (
    ("server/discover", {}),
    ("ping", {}),
    ("tools/list", {}),
    ("tools/call", {"name": "create_task", "arguments": {"text": "Find two parks"}}),
    ("tools/call", {"name": "create_task", "arguments": {"text": ""}}),
    ("tools/call", {"name": "get_task", "arguments": {"id": "{made}"}}),
    ("tools/call", {"name": "get_task", "arguments": {"id": "{sent}"}}),
    ("tools/call", {"name": "get_task", "arguments": {"id": "nonsense"}}),
    ("tools/call", {"name": "list_tasks", "arguments": {"limit": 1}}),
    ("tools/call", {"name": "search_tasks", "arguments": {"query": "parks"}}),
    ("tools/call", {"name": "read_task_log", "arguments": {"id": "{made}"}}),
    ("tools/call", {"name": "cancel_task", "arguments": {"id": "{made}"}}),
    ("tools/call", {"name": "dance", "arguments": {}}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "task://{made}"}),
    ("tasks/get", {"taskId": "{made}"}),
    ("tasks/cancel", {"taskId": "{made}"}),
    ("dance", {}),
)
A2A: Final[tuple[tuple[str, JsonMap], ...]] = (
    (
        "SendMessage",
        {
            "message": {
                "messageId": "one",
                "role": "ROLE_USER",
                "parts": [{"text": "Find two parks"}],
            },
            "configuration": {"returnImmediately": True},
        },
    ),
    ("SendMessage", {"message": {"messageId": "two", "parts": []}}),
    ("GetTask", {"id": "{made}"}),
    ("GetTask", {"id": "nonsense"}),
    ("ListTasks", {"pageSize": 1}),
    ("CancelTask", {"id": "{made}"}),
    ("GetExtendedAgentCard", {}),
    ("ListTaskPushNotificationConfigs", {"taskId": "{made}"}),
    ("Dance", {}),
)
