// SPDX-License-Identifier: Apache-2.0
def log = new File(basedir, 'build.log').text
assert log =~ /broken.board\.yaml:8\b/ : 'the line of the size'
assert log =~ /broken.board\.yaml:9\b/ : 'the line of the unknown key'
assert !new File(basedir, 'target/generated-sources').exists()
return true
