// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def modules = new groovy.xml.XmlSlurper().parse(new File(basedir, 'pom.xml')).modules.module.collect { it.text() }
assert modules == ['boards', 'gloves']
assert new File(basedir, 'boards/src/main/boards/left-glove/board.yaml').text.contains('extends: mps2-an385')
assert new File(basedir, 'gloves/.gitignore').text.trim() == 'target/'
assert new File(basedir, 'gloves/.mvn/jvm.config').text.contains('-XX:TieredStopAtLevel=1')
['.vscode/tasks.json', '.vscode/settings.json', '.run/verify.run.xml', '.idea/jsonSchemas.xml', '.clangd', '.kiln/schemas/test.schema.json'].each {
    assert new File(basedir, "gloves/$it").length() > 0 : it
}
assert new File(basedir, 'gloves/README.md').text.startsWith('gloves\n')
assert new File(basedir, 'gloves/src/main/model/gesture.tflite').bytes == new File(quickstart, 'src/main/model/gesture.tflite').bytes

def log = new File(basedir, 'build.log').text
assert log.contains('Board left-glove: an empty application compiles and links')
assert log.contains('program on qemu-system-arm mps2-an386: 1 test, all passed')
assert new JsonSlurper().parse(new File(basedir, 'gloves/target/kiln/verify.json')).bitExact

// What a first build says between the end of the archetype's and the beginning of the next: all lines count, with words or without.
def first = log.substring(0, log.indexOf('Scanning for projects', log.indexOf('] Board mps2-an386'))).readLines()
first = first.subList(first.findLastIndexOf { it =~ /^\[INFO\] -+$/ } + 1, first.size() - 1)
assert first.size() <= 25 : first.join('\n')
['Linked ', 'Report: ', 'Bit-exact on qemu-system-arm mps2-an386', '1 test, all passed'].each { said ->
    assert first.any { it.contains(said) } : first.join('\n')
}

// kiln.attachReports: the papers are installed with the image.
def installed = new File(localRepositoryPath, 'com/example/gloves/1.0.0')
['.elf', '-report.json', '-report.html', '-cyclonedx.json', '-provenance.json'].each {
    assert new File(installed, "gloves-1.0.0$it").length() > 0 : it
}

def diff = new JsonSlurper().parse(new File(basedir, 'gloves/target/kiln/diff.json'))
def flash = diff.totals.find { it.what == 'flash' }
assert flash.after < flash.before
assert new File(basedir, 'gloves/target/kiln/diff.md').text.startsWith('Compared with com.example:gloves:1.0.0')

// The list of boards for programs is a document of its own between Maven's lines.
def boards = new JsonSlurper().parseText((log =~ /(?ms)^\{\n  "boards".*?^\}/)[0]).boards
assert boards.find { it.id == 'stm32f405' }.profile.emulator == [kind: 'qemu', name: 'qemu-system-arm netduinoplus2']

// The site has the page of the installed build; the smaller one wrote its own since.
assert new File(basedir, 'gloves/target/site/kiln.html').bytes == new File(installed, 'gloves-1.0.0-report.html').bytes
assert new File(basedir, 'gloves/target/site/project-reports.html').text.contains('href="kiln.html"')
assert !new File(basedir, 'boards/target/site/kiln.html').exists()
return true
