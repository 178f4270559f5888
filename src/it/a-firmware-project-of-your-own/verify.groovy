// SPDX-License-Identifier: Apache-2.0
import java.util.zip.ZipFile
import javax.xml.parsers.DocumentBuilderFactory

new ZipFile(new File(basedir, 'scheduler/target/scheduler-1.0.0.zip')).withCloseable { zip ->
    assert zip.entries().collect { it.name } ==
            ['c/context.S', 'c/tasks.c', 'include/FreeRTOS.h', 'include/task.h']
}
def log = new File(basedir, 'build.log').text
assert log.contains('unit tests on this computer: 2 tests, all passed')
assert log.contains('unit tests on mps2-an386: 2 tests, all passed')
assert log.count('program on qemu-system-arm mps2-an386: 1 test, all passed') == 2

// The last run waited for eight blinks of a program that blinks once.
assert log =~ /blinks\.yaml:\d+:\d+: the program did not print this text/
def report = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new File(basedir, 'blinky/target/kiln/TEST-kiln-test.xml'))
def failures = report.getElementsByTagName('failure')
assert failures.length == 1
assert failures.item(0).parentNode.getAttribute('name') == 'blinks'

// The C project holds all of it and builds without Maven.
def make = ['make', '-C', new File(basedir, 'blinky/target/firmware').path].execute()
def said = make.errorStream.text + make.inputStream.text
assert make.waitFor() == 0 : said
return true
