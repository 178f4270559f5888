// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def json = { new JsonSlurper().parse(new File(basedir, "firmware/$it")) }
def log = new File(basedir, 'build.log').text

def verify = json('target/kiln/verify.json')
assert verify.bitExact && verify.passed && verify.board == 'vecu-board'

def report = json('target/kiln/report.json')
def taken = report.operators.findAll { it.codegen == 'vecu' }
assert taken.size() == 2 && taken.every { it.composite == 'vecu.conv2d' && it.workspaceBytes > 0 }
assert report.operators.find { it.schedule.startsWith('dsp_depthwise') }.stayed == 'vecu.conv2d: the unit has no groups'
assert report.linkPlan.any { it.loader == 'vecu' && it.targetKey == 'vecu' && it.action == 'copied' }

['host/src/gesture_lib1.c', 'vecu/src/gesture_lib2.c', 'vecu/include/vecu.h', 'vecu/vecu/gesture_lib2.vcs'].each {
  assert new File(basedir, "firmware/target/generated-sources/kiln/codegen/$it").length() > 0 : it
}
def model = json('target/generated-sources/kiln/metadata.json').modules.gesture
assert model.target_keys.vecu == 'vecu -lanes=8'
assert model.target == [model.target_keys.host, model.target_keys.vecu]

// What the unit touches lies where it reaches; what only the core touches lies in the fast memory, which is the core's alone.
def tcm = report.memories.find { it.name == 'tcm' }
assert tcm.targets == ['host'] && tcm.used > 0
assert !report.memories.find { it.name == 'sram' }.containsKey('targets')
def tcmSection = report.image.sections.find { it.name == '.bss.noinit.tvm.tcm' }
assert tcmSection.memory == 'tcm' && tcmSection.bytes == tcm.used
def entry = new File(basedir, 'firmware/target/generated-sources/kiln/codegen/host/src/gesture_lib0.c').text
assert entry =~ /tcm"\)/ && entry =~ /sram"\)/

// Objects of two targets in two folders, and the archive makes the same image.
['host/lib/gesture_lib1.o', 'vecu/lib/gesture_lib2.o'].each {
  assert new File(basedir, "firmware/objects/generated-sources/kiln/codegen/$it").length() > 0 : it
}
def image = new File(basedir, 'firmware/objects/gestures-1.0.0.bin').bytes
assert image.length > 0 && new File(basedir, 'firmware/again/gestures-1.0.0.bin').bytes == image

assert log.contains('Payload of vecu: tvmgen_gesture_vecu_main_0, tvmgen_gesture_vecu_main_1')
assert log =~ /tvmgen_gesture_vecu_main_1\s+\[INFO\]\s+shape input rows 16, columns 1, channels 8, output rows 16/
def runs = log.split('Scanning for projects')[1..-1]
assert runs[6] =~ /Generating C: nothing changed|Up to date/
assert runs[8] =~ /Generating C: extensions\[\d+\] vecu-codegen-1\.0\.0\.jar changed/
return true
