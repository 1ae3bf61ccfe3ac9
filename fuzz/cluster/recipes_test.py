#!/usr/bin/env python3
"""The recipes of docs/cluster without a cluster: the Kubernetes manifest asks for the shards that its command
line has and its policy tries again what `mmadiff` promises to go on with; the Slurm script requeues the same
codes. Usage: recipes_test.py MMADIFF. Exits 77 without the package yaml (Debian: python3-yaml)."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print('no yaml (python3-yaml)')
    sys.exit(77)

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(__file__).resolve().parents[2] / 'docs' / 'cluster'
KILLED, TERMINATED = 137, 143
failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print(f'FAILED: {what}')


def run(command, folder, **env):
    env = dict(os.environ, PATH=f'{folder}:{os.environ["PATH"]}', **env)
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def codes_of_run():
    """The exit codes of `mmadiff run`."""
    text = subprocess.run([PROGRAM, 'help', 'run'], capture_output=True, text=True, check=True).stdout
    return [int(code) for code in re.findall(r'^  (\d+) ', text.split('\nExit codes')[1], re.M)]


def action(rules, container, code):
    """What Kubernetes does with a pod whose container ended so: the first rule that fits decides."""
    for rule in rules:
        asked = rule.get('onExitCodes')
        if asked is None or asked.get('containerName', container) != container:
            continue
        if (code in asked['values']) == (asked['operator'] == 'In'):
            return rule['action']
    return 'Count'


def kubernetes(folder):
    job = yaml.safe_load((FOLDER / 'kubernetes_job.yaml').read_text())
    spec = job['spec']
    container, = spec['template']['spec']['containers']
    check((job['apiVersion'], job['kind']) == ('batch/v1', 'Job'), 'no Job of batch/v1')
    check(spec['completionMode'] == 'Indexed', 'the Job is not indexed')
    check(spec['template']['spec']['restartPolicy'] == 'Never', 'podFailurePolicy wants restartPolicy: Never')
    check('backoffLimitPerIndex' in spec, 'FailIndex wants backoffLimitPerIndex')
    check(spec['backoffLimitPerIndex'] > 0, 'a pod that was killed is not tried again')
    text = container['command'][-1]
    shards = int(re.search(r'--shard=auto/(\d+)', text)[1])
    check(spec['completions'] == shards, f'{spec["completions"]} completions of {shards} shards')
    check('--max_mismatches=0' in text, 'the first mismatches end the night')
    rules = spec['podFailurePolicy']['rules']
    for code in codes_of_run() + [KILLED, TERMINATED]:
        wanted = 'Ignore' if code in (75, TERMINATED) else 'Count' if code in (0, KILLED) else 'FailIndex'
        got = action(rules, container['name'], code)
        check(got == wanted, f'exit code {code}: {got}, not {wanted}')
    # The command line itself, planned, as the last index.
    command = [*container['command'][:-1], text.replace('cuda:0', 'faulty:none=0') + ' --dry_run']
    for index, code in ((shards - 1, 0), (shards, 2)):
        done = run(command, folder, JOB_COMPLETION_INDEX=str(index))
        check(done.returncode == code, f'index {index}: exit code {done.returncode}: {done.stderr}')
        plan = dict(line.split(None, 1) for line in done.stdout.splitlines()[:4])
        if code == 0:
            check(plan['shard'] == f'{index}/{shards}', f'shard {plan["shard"]}')
            mount = container['volumeMounts'][0]['mountPath']
            check(plan['workdir'] == f'{mount}/{index}', f'workdir {plan["workdir"]}')


def slurm(folder):
    script = FOLDER / 'slurm_array.sh'
    tools = [['bash', '-n'], ['shellcheck']]
    for tool in tools:
        if shutil.which(tool[0]) is None:
            print(f'no {tool[0]} here')
            continue
        done = run([*tool, script], folder)
        check(done.returncode == 0, f'{tool}: {done.stdout}{done.stderr}')
    (folder / 'scontrol').write_text('#!/bin/sh\necho "$@" >>requeued\n')
    (folder / 'scontrol').chmod(0o755)
    (folder / 'killed').write_text(f'#!/bin/sh\nexit {KILLED}\n')
    (folder / 'killed').chmod(0o755)
    for code in codes_of_run() + [KILLED]:
        (folder / 'ends').write_text(f'#!/bin/sh\necho "$@" >arguments\nexit {code}\n')
        (folder / 'ends').chmod(0o755)
        (folder / 'requeued').write_text('')
        shutil.rmtree(folder / 'night', ignore_errors=True)
        (folder / 'night/3').mkdir(parents=True)
        done = run(['bash', script, '--cases=5'], folder, MMADIFF=f'{folder}/ends', NIGHT='night',
                   SLURM_ARRAY_JOB_ID='12', SLURM_ARRAY_TASK_ID='3')
        check(done.returncode == code, f'Slurm: exit code {done.returncode}, not {code}')
        wanted = 'requeue 12_3\n' if code in (75, KILLED) else ''
        got = (folder / 'requeued').read_text()
        check(got == wanted, f'Slurm: after {code}: {got!r}, not {wanted!r}')
        check((folder / 'arguments').read_text() == 'run --shard=auto --workdir=night/3 --cases=5\n', 'arguments')
    # Killed again and again: as long as there is something new in a log.
    again = []
    for new in (True, True, False, False, True, False, False, False):
        with open(folder / 'night/3/units-1.log', 'a', encoding='ascii') as log:
            log.write('x' * new)
        (folder / 'requeued').write_text('')
        run(['bash', script], folder, MMADIFF=f'{folder}/killed', NIGHT='night', SLURM_ARRAY_JOB_ID='12',
            SLURM_ARRAY_TASK_ID='3')
        again.append((folder / 'requeued').read_text() != '')
    check(again == [True] * 7 + [False], f'Slurm: requeued after kills: {again}')
    # Preempted after a difference: there is more to do.
    (folder / 'differs').write_text('#!/bin/sh\ntrap "exit 1" TERM\nkill -TERM $PPID\nwhile :; do sleep 0.1; done\n')
    (folder / 'differs').chmod(0o755)
    shutil.rmtree(folder / 'night/3')
    (folder / 'night/3').mkdir()
    (folder / 'requeued').write_text('')
    done = run(['bash', script], folder, MMADIFF=f'{folder}/differs', NIGHT='night', SLURM_ARRAY_JOB_ID='12',
               SLURM_ARRAY_TASK_ID='3')
    check((done.returncode, (folder / 'requeued').read_text()) == (1, 'requeue 12_3\n'),
          f'Slurm: preempted with a difference: {done.returncode} {done.stderr}')


with tempfile.TemporaryDirectory() as name:
    (pathlib.Path(name) / 'mmadiff').symlink_to(PROGRAM)
    kubernetes(pathlib.Path(name))
    slurm(pathlib.Path(name))
print(f'{failures} failures')
sys.exit(1 if failures else 0)
