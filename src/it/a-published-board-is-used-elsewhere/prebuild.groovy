// SPDX-License-Identifier: Apache-2.0
// Puts sources of CMSIS-NN, the stand-in's, into the repository, as a company would put a release of Arm's.
import java.util.zip.ZipEntry
import java.util.zip.ZipOutputStream

def sources = new File(quickstart, '../../test/c/cmsis-nn').canonicalFile.toPath()
def folder = new File(basedir, 'repository/com/example/lab/cmsis-nn/7.0.0')
folder.mkdirs()
new ZipOutputStream(new FileOutputStream(new File(folder, 'cmsis-nn-7.0.0.zip'))).withCloseable { zip ->
    sources.toFile().eachFileRecurse(groovy.io.FileType.FILES) { file ->
        zip.putNextEntry(new ZipEntry("CMSIS-NN-7.0.0/${sources.relativize(file.toPath())}"))
        zip.write(file.bytes)
        zip.closeEntry()
    }
}
new File(folder, 'cmsis-nn-7.0.0.pom').text = '''<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example.lab</groupId>
  <artifactId>cmsis-nn</artifactId>
  <version>7.0.0</version>
  <packaging>zip</packaging>
</project>
'''
return true
