// SPDX-License-Identifier: Apache-2.0
def log = new File(basedir, 'build.log').text
['host', 'mps2-an386'].each { assert log.contains("$it: 4 cases are bit-exact") }
def launcher = new File(basedir, 'target/project-template/launch_microtvm_api_server.sh').readLines()
assert launcher.size() == 2 && launcher[1].endsWith('"$@"')
return true
