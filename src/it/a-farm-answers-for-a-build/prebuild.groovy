// SPDX-License-Identifier: Apache-2.0
// Starts kiln:farm and kiln:worker as a user does in two other terminals. They end with verify.groovy, or with the Maven that runs the tests.
def maven = new File(System.getProperty('maven.home'), 'bin/mvn').path
def settings = new File(basedir.parentFile, 'interpolated-settings.xml')
def port = new ServerSocket(0).withCloseable { it.localPort }
def url = "tcp://localhost:$port".toString()
def processes = []
context.put('processes', processes)
addShutdownHook { processes.each { it.destroyForcibly() } }

def start = { String name, String said, List<String> arguments ->
    def log = new File(basedir, "${name}.log")
    def command = [maven, '-B', '-s', settings.path, "-Dmaven.repo.local=${localRepositoryPath}".toString()] + arguments
    def process = new ProcessBuilder(command).directory(basedir).redirectErrorStream(true).redirectOutput(log).start()
    processes << process
    def end = System.nanoTime() + 180_000_000_000L
    while (!log.text.contains(said)) {
        assert process.alive && System.nanoTime() < end : log.text
        sleep 100
    }
}
start('broker', "Farm $url", ['kiln:farm', "-Dkiln.farm.listen=$url".toString(), "-Dkiln.farm.folder=$basedir/queues".toString(), "-Dkiln.home=$home".toString()])
start('worker', 'takes jobs of', ['kiln:worker', "-Dkiln.farm=$url".toString(), '-Dkiln.worker.name=bench',
        '-Dkiln.worker.emulators=mps2-an386', '-Dkiln.worker.slots=1', "-Dkiln.home=$home".toString()])
new File(basedir, 'test.properties').text = "kiln.farm=$url\n"
return true
