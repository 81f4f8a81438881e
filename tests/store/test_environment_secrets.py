"""Which variables hold a secret: names and values as they are met on real machines."""

import pytest

from remit.store.redact import secret_values, without_secrets
from tests.tables import for_each

RANDOM = "q7Zt2Kp9vXw4Lm8RbN3c"
NAMES = """
        AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AZURE_CLIENT_SECRET GITHUB_TOKEN GH_TOKEN NPM_TOKEN
        CI_JOB_TOKEN STRIPE_SECRET STRIPE_SECRET_KEY SLACK_SIGNING_SECRET TWILIO_AUTH_TOKEN
        DJANGO_SECRET_KEY RAILS_MASTER_KEY JWT_SECRET SECRET_KEY_BASE NEXTAUTH_SECRET API_KEY_PROD
        OPENAI_API_KEY OPENAI_APIKEY PGPASSWORD MYSQL_PWD MYSQL_ROOT_PASSWORD SSHPASS SMTP_PASS
        RESTIC_PASSWORD BORG_PASSPHRASE LDAP_BIND_PW REDISCLI_AUTH NPM_AUTH VAULT_TOKEN TOKEN_2
        TF_VAR_db_password npm_config__authToken COOKIE_SECRET_OLD ENCRYPTION_KEY SSH_PRIVATE_KEY
        TELEGRAM_BOT_TOKEN CLOUDFLARE_API_TOKEN SENDGRID_API_KEY AZURE_STORAGE_SAS MY_CREDS SECRET
        remit_token GOOGLE_CLIENT_SECRET HMAC_KEY NEXT_PUBLIC_SECRET DOCKER_PASSWORDS
        GITHUB_PAT DBPASS DBPASS2 TOKEN1 PASSWORT KENNWORT_DB DB_PWD CONTRASENA CONTRASEÑA SENHA_DB
        MOT_DE_PASSE WACHTWOORD SERVICE_CREDENTIALS PG_DSN PASSWORD_PROD DB_PASS_OLD LOGIN_PIN
        MONKEY BUILD_THING apiKey2 Schlüssel_Bank
"""
SECRETS = {
    **dict.fromkeys(NAMES.split(), RANDOM),
    "DB_PASSWORD": "correcthorsebattery",  # a word is a password if the name says so for sure
    "PASSWORD": "20190412",
    **dict.fromkeys(
        ("MNEMONIC", "WALLET_MNEMONIC", "SEED_PHRASE", "RECOVERY_KEY", "VAULT_UNSEAL_KEY"),
        "witch feed shame open despair creek",
    ),
    "SECRET_KEY": "supersecretkey",
    **dict.fromkeys(
        (
            "DBPASS",
            "PASSWORT",
            "TOKEN1",
            "DB_PASSWORD_PROD",
            "KENNWORT2",
            "CLAVE_SECRETA",
            "ROOTPWD",
            "CONTRASENA_CORREO",
            "KENNWORT_MAIL",
            "TOKEN_GITHUB",
        ),
        "correcthorsebattery",
    ),
    "SOMETHING": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
}
NOT_SECRETS = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "PWD": "/data/app-2024/releases/20240101",
    "OLDPWD": "/data/anna",
    "HOME": "/data/anna",
    "KEYBOARD_LAYOUT": "us-international",
    "KEY_LAYOUT": "us-international",
    "TOKENIZERS_PARALLELISM": "false",
    "SSH_AUTH_SOCK": "/run/user/1000/keyring/ssh",
    "SSH_KEY_PATH": "~/.ssh/id_ed25519",
    "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt",
    "GOOGLE_APPLICATION_CREDENTIALS": "/etc/google/service-account.json",
    "ANSIBLE_VAULT_PASSWORD_FILE": "../vault/password.txt",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus",
    "AUTH_METHOD": "certificate",
    "AUTH_REALM": "realm-2024-production",
    "COOKIE_DOMAIN": "app-01.eu-west-1.example.com",
    "MAX_TOKENS": "100000000",
    "TOKEN_EXPIRES_SECONDS": "31536000",
    "REQUIRE_PASSWORD": "disabled",
    "SECRET_SERVICE": "gnome-keyring-daemon",
    "PASSWORD_POLICY": "at-least-12-characters",
    "DB_PASSWORD": "postgres",  # protects nothing, and stands in every second text about databases
    "ACCESS_TOKEN": "short",
    "VAPID_PUBLIC_KEY": RANDOM,
    "STRIPE_PUBLISHABLE_KEY": "pk_live_" + RANDOM,
    "DATABASE_URL": "postgres://localhost:5432/app",
    "TOKEN_URL": "https://login.example.com/oauth2/token",
    "MONKEY": "banana-2024-split",
    "COMPASS": "north-by-northwest",
    "BYPASS": "everything-local",
    "PAT": "Patricia Weber",
    "ORACLE_COMPAT": "version-19-compatible",
    "ZIP_CODE": "12345-6789",
    "SESSION_MANAGER": "local/host:@/tmp/.ICE-unix/1234",
    "XDG_SESSION_DESKTOP": "gnome-classic",
    "LS_COLORS": "rs=0:di=01;34:ln=01;36:mh=00:pi=40;33:so=01;35",
    "JAVA_OPTS": "-Xmx2048M -XX:MaxMetaspaceSize=512M",
    "RELEASE": "ReleaseCandidate2024BuildNumber17",
    "IMAGE": "registry.example.com:5000/app/web@sha256:0f3c9a7be41d55a2c8b70f3c9a7be41d55a2c8b7",
    "HOST": "ip-10-0-12-34.eu-central-1.compute.internal",
    "NODE_ID": "123e4567-e89b-12d3-a456-426614174000",
    "REMOTE": "git@git.example.com:anna/notes.git",
    "TIMES": "2026-11-18T10:30:00+01:00",
    "GIT_SHA": "0f3c9a7be41d55a2c8b7",
}
PARTS = [  # of these only the part that opens something is secret
    ("DATABASE_URL", f"postgres://anna:{RANDOM}@db:5432/app", {RANDOM}),
    ("DATABASE_URL", "postgres://anna:p%40ssw%3Ard9@db/app", {"p%40ssw%3Ard9", "p@ssw:rd9"}),
    ("REDIS_URL", f"rediss://:{RANDOM}@cache:6379/0", {RANDOM}),
    ("SENTRY_DSN", f"https://{RANDOM}@o1.ingest.example.io/42", {RANDOM}),
    ("CALLBACK", f"https://example.com/hook?api_key={RANDOM}&page=2", {RANDOM}),
    ("SLACK_WEBHOOK_URL", f"https://hooks.example.com/services/T01/B02/{RANDOM}", {RANDOM}),
    ("PG_DSN", f"host=db user=anna password={RANDOM} dbname=app", {RANDOM}),
    ("STORAGE", f"AccountName=anna;AccountKey={RANDOM};Suffix=example.net", {RANDOM}),
    ("DATABASE_URL", "postgres://anna:postgres@db/app", set()),
    ("DATABASE", f"anna:{RANDOM}@tcp(db:3306)/app", {RANDOM}),
    ("JDBC", f"jdbc:mysql://anna:{RANDOM}@db/app", {RANDOM}),
    ("BROKERS", f"amqp://a:{RANDOM}1@one,amqp://b:{RANDOM}2@two", {RANDOM + "1", RANDOM + "2"}),
]


@for_each("name", SECRETS)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    environ = {name: SECRETS[name]}

    assert secret_values(environ) == {SECRETS[name]}
    assert without_secrets({**environ, "LANG": "C.UTF-8"}) == {"LANG": "C.UTF-8"}


@for_each("name", NOT_SECRETS)
def test_what_is_public_is_no_secret(name: str) -> None:
    environ = {name: NOT_SECRETS[name]}

    assert secret_values(environ) == set()
    assert without_secrets(environ) == environ


@pytest.mark.parametrize(("name", "value", "secrets"), PARTS)
def test_of_an_address_only_what_opens_it_is_secret(
    name: str, value: str, secrets: set[str]
) -> None:
    assert secret_values({name: value}) - {value} == secrets


def test_each_line_of_a_private_key_is_secret() -> None:
    line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
    marks = [f"-----{word} PRIVATE KEY-----" for word in ("BEGIN", "END")]
    for end in ("\n", "\\n"):
        key = end.join((marks[0], line, marks[1]))
        assert secret_values({"DEPLOY_KEY": key}) == {key, line}
