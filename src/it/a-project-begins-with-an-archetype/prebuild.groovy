// SPDX-License-Identifier: Apache-2.0
// What `mvn install` does with the archetypes in the user's repository.
def target = new File(basedir, '../..')
['kiln-firmware', 'kiln-board-profile'].each { name ->
    def folder = new File(localRepositoryPath, "io/kiln/$name/$version")
    folder.mkdirs()
    new File(folder, "$name-${version}.jar").bytes = new File(target, "archetype-${name}.jar").bytes
    new File(folder, "$name-${version}.pom").text = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>io.kiln</groupId><artifactId>$name</artifactId><version>$version</version>
</project>
"""
}
return true
