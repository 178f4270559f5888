// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

assert new File(basedir, 'was-asked').isFile()
assert new JsonSlurper().parse(new File(basedir, 'target/kiln/report.json')).toolchain.startsWith('gnu: ')
assert new JsonSlurper().parse(new File(basedir, 'target/kiln/verify.json')).bitExact
return true
