// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

['left', 'right'].each { module ->
    assert new JsonSlurper().parse(new File(basedir, "$module/target/kiln/verify.json")).bitExact
    def installed = new File(localRepositoryPath, "com/example/$module/1.0.0")
    ["${module}-1.0.0.elf", "${module}-1.0.0.bin", "${module}-1.0.0.hex", "${module}-1.0.0.map", "${module}-1.0.0-mlf.tar"].each {
        assert new File(installed, it).isFile() : "$it is not installed"
    }
}
assert new File(basedir, 'build.log').text.contains('Skipped: this project only has modules; choose one with -pl <module>.')
return true
