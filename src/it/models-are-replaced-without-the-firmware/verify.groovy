// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def runs = new File(basedir, 'build.log').text.split('Scanning for projects')[1..-1]
assert runs.size() == 3
assert runs[0].contains('Models in version 1.0.0 for the field: ')
assert runs[1].contains('virtual: models 1.1.0 in slot 2; version 1.0.0 stays in slot 1')
assert runs[1].contains('Bit-exact on virtual-stm32f405, probe virtual')
assert runs[2].contains('the update is not for this device: its models have version 1.0.5, and version 1.1.0 runs')

// An update is a region for each slot; the second one is what the board holds there.
def update = new File(basedir, 'target/gesture-1.0.0.models-1.0.5.update').bytes
def flash = new File(basedir, 'target/kiln/virtual/virtual.bin').bytes
assert update.length % 64 == 0
assert new String(update, 0, 8, 'US-ASCII') == 'KILNREGN'
[0x80000, 0xc0000].each { assert new String(flash, it, 8, 'US-ASCII') == 'KILNREGN' }
assert flash[0x80014..0x80017] == [0, 0, 0, 1].collect { it as byte }
assert flash[0xc0014..0xc0017] == [0, 0, 1, 1].collect { it as byte }

// No output has the key.
def secret = '\u0001' * 32
new File(basedir, 'target').eachFileRecurse(groovy.io.FileType.FILES) { file ->
    def text = file.getText('ISO-8859-1')
    assert !text.contains(secret) && !text.contains('AQEBAQEBAQEBAQEBAQEBAQ'): file
}

def image = new File(basedir, 'target/gesture-1.0.0.mcuboot.bin').bytes
assert image[0..3] == [0x3d, 0xb8, 0xf3, 0x96].collect { it as byte }
def attempts = new JsonSlurper().parse(new File(basedir, 'target/kiln/flash.json'))
assert attempts*.image*.file == ['gesture-1.0.0.elf', 'gesture-1.0.0.models-1.1.0.update', 'gesture-1.0.0.models-1.1.0.update',
        'gesture-1.0.0.models-1.0.5.update']
assert attempts*.result == ['flashed', 'flashed', 'unchanged', 'failed']
return true
