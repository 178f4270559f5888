// SPDX-License-Identifier: Apache-2.0
def log = new File(basedir, 'build.log').text
assert log.contains('board tiny: the image does not fit')
assert log =~ /code +[\d,]+ +2,048 +[\d,]+ too many/
assert log =~ /sram +[\d,]+ +4,194,304/
assert !log.contains('internal error') && !log.contains('\tat io.kiln')
['elf', 'bin', 'hex', 'map'].each {
    assert !new File(basedir, "target/too-big-1.0.0.$it").exists() : 'nothing half-written stays'
}
return true
