// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import io.kiln.process.Command;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The Maven of this computer with a local repository of its own, which is filled from the user's. A home of its own, too, so that nothing of the user is
 * read or written.
 *
 * @param folder where the repository is
 */
public record RealMaven(Path folder) {
    /** The version of the plugin. */
    public static final String VERSION = "0.1.0-SNAPSHOT";

    /** What a build of Kiln itself reads; its tests are left out. */
    private static final List<String> CHECKOUT = List.of(
            "pom.xml",
            ".mvn",
            "toolchains",
            "src/main",
            "src/build",
            "src/setup",
            "src/it",
            "README.md",
            "LICENSE",
            "NOTICE");

    /** Writes the settings and the program. */
    public static RealMaven in(Path folder) throws IOException {
        TestPrograms.need("mvn");
        Path users = KeptPrograms.folder()
                .resolve("../../repository")
                .toAbsolutePath()
                .normalize();
        Files.writeString(
                folder.resolve("settings.xml"),
                Files.readString(Path.of("src/it/settings.xml"))
                        .replace("@localRepositoryUrl@", users.toUri().toString()));
        Path mvn = Files.createDirectories(folder.resolve("bin")).resolve("mvn");
        Files.writeString(mvn, """
            #!/bin/sh
            PATH=${PATH#*:}
            exec mvn -B -ntp -s FOLDER/settings.xml -Dmaven.repo.local=FOLDER/repository "$@"
            """.replace("FOLDER", folder.toString()));
        Files.setPosixFilePermissions(mvn, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.createDirectories(folder.resolve("home/keys"));
        return new RealMaven(folder);
    }

    /** Puts the plugin as it was compiled into the repository. */
    public void install() throws IOException {
        Path own = Files.createDirectories(folder.resolve("repository/io/kiln/kiln-maven-plugin/" + VERSION));
        Files.copy(Path.of("pom.xml"), own.resolve("kiln-maven-plugin-" + VERSION + ".pom"));
        Path classes = Path.of("target/classes");
        try (OutputStream file = Files.newOutputStream(own.resolve("kiln-maven-plugin-" + VERSION + ".jar"));
                ZipOutputStream jar = new ZipOutputStream(file);
                Stream<Path> all = Files.walk(classes)) {
            for (Path each : all.filter(Files::isRegularFile).sorted().toList()) {
                jar.putNextEntry(new ZipEntry(classes.relativize(each).toString()));
                Files.copy(each, jar);
            }
        }
    }

    /** Runs the lines of a shell, in which {@code mvn} is this one. */
    public ProcessResult run(String lines, Path project) {
        return ProcessRunner.run(Command.of("bash", "-euo", "pipefail", "-c", lines)
                .in(project)
                .with("PATH", folder.resolve("bin") + ":" + System.getenv("PATH"))
                .with("HOME", folder.resolve("home").toString())
                .with("KILN_HOME", KeptPrograms.folder().resolve("home").toString())
                .with("MAVEN_OPTS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Duser.home=" + folder.resolve("home"))
                .within(Duration.ofMinutes(30)));
    }

    /** Copies what a build of Kiln itself reads. */
    public static Path checkout(Path into) throws IOException {
        for (String part : CHECKOUT) {
            copy(Path.of(part), into.resolve(part));
        }
        return into;
    }

    /** Copies a file or a folder; a POM gets the names of this build, as a scenario's does. */
    static Path copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.filter(Files::isRegularFile).toList()) {
                Path file = to.resolve(from.relativize(each).toString());
                Files.createDirectories(file.toAbsolutePath().getParent());
                if (from.startsWith("src/it/") && each.endsWith("pom.xml")) {
                    Files.writeString(
                            file,
                            Files.readString(each)
                                    .replace("@project.version@", VERSION)
                                    .replace("@project.groupId@", "io.kiln")
                                    .replace(
                                            "@project.basedir@",
                                            Path.of("").toAbsolutePath().toString())
                                    .replace("@project.artifactId@", "kiln-maven-plugin"));
                } else {
                    Files.copy(each, file);
                }
            }
        }
        return to;
    }
}
