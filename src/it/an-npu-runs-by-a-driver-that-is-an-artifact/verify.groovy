// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def json = { new JsonSlurper().parse(new File(basedir, "firmware/$it")) }

def verify = json('target/kiln/verify.json')
assert verify.bitExact && verify.passed && verify.board == 'acme-npu' && verify.cases.size() == 2
def npu = json('target/kiln/report.json').models[0].npu
assert npu.onNpu.operators == 2 && npu.onCore.operators == 1 && npu.vela == null

def byVela = json('by-vela/kiln/verify.json')
assert byVela.bitExact && byVela.passed && byVela.board == 'virtual-corstone-300'
def run = json('by-vela/kiln/report.json').models[0].npu.vela
assert run.version == '3.10.0'
assert run.arguments.take(5) == ['limits.tflite', '--accelerator-config', 'ethos-u55-128', '--output-dir', 'out']
return true
