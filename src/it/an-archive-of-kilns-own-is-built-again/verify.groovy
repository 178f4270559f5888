// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def archive = new File(basedir, 'kiln-out/gesture-mlf.tar')
def verify = new JsonSlurper().parse(new File(basedir, 'target/kiln/verify.json'))
assert verify.bitExact && verify.passed && verify.board == 'mps2-an386'
assert verify.cases*.name == ['vector_0', 'vector_1']

// What was compiled is the archive's C, and the archive goes on as it came.
['gesture_lib0.c', 'gesture_lib1.c'].each {
  def first = new File(basedir, "kiln-out/generated-sources/kiln/codegen/host/src/$it")
  assert new File(basedir, "target/firmware/codegen/host/src/$it").text == first.text
}
assert new File(basedir, 'target/from-archive-1.0.0-mlf.tar').bytes == archive.bytes
assert new File(basedir, 'target/from-archive-1.0.0.elf').length() > 0

def report = new JsonSlurper().parse(new File(basedir, 'target/kiln/report.json'))
assert report.name == 'gesture' && !report.operators.isEmpty()
return true
