// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The only files that the bundled clang sees while it reads untrusted code: the project's own and the compiler's
 * headers, each listed in an overlay of its file system with nothing below it. No other file of this computer exists
 * for a source, whatever path it uses, and a source cannot find out whether one does. A second overlay, for
 * preprocessed text, has no files at all.
 */
final class ClosedWorld {
    private static final String FILES = "fence-files.json";
    private static final String NOTHING = "fence-nothing.json";

    private final FirmwareProject project;
    private final Path resources;

    private ClosedWorld(FirmwareProject project, Path resources) {
        this.project = project;
        this.resources = resources;
    }

    /**
     * Writes the overlays of a project into its folder of objects.
     *
     * @param home folder of the bundled compiler
     */
    static ClosedWorld write(FirmwareProject project, Path home) {
        ClosedWorld world = new ClosedWorld(project, headers(home));
        WholeFiles.write(world.file(FILES), overlay(world.files()));
        WholeFiles.write(world.file(NOTHING), overlay(new TreeSet<>()));
        return world;
    }

    /** Flags that make the project's files and the compiler's headers visible. */
    List<String> withFiles() {
        return List.of("-vfsoverlay", file(FILES).toString());
    }

    /** Flags that make no file visible. */
    List<String> withNothing() {
        return List.of("-vfsoverlay", file(NOTHING).toString());
    }

    /** Whether the compiler may read a file, given as the compiler names it. */
    boolean contains(String name) {
        Path path = project.directory().resolve(name).normalize();
        return path.startsWith(resources)
                || projectFiles()
                        .contains(
                                project.directory().relativize(path).toString().replace('\\', '/'));
    }

    private Path file(String name) {
        return project.objectDirectory().resolve(name);
    }

    private Set<String> projectFiles() {
        Set<String> names = new LinkedHashSet<>(project.headers());
        project.units().forEach(unit -> names.add(unit.path()));
        return names;
    }

    /** The files that the compiler may read, with their real paths, which it may use. */
    private Set<Path> files() {
        Set<Path> files = new TreeSet<>();
        try (Stream<Path> walk = Files.walk(resources)) {
            walk.filter(Files::isRegularFile).forEach(files::add);
            for (String name : projectFiles()) {
                files.add(project.directory().resolve(name).normalize());
            }
            List<Path> real = new ArrayList<>();
            for (Path file : files) {
                real.add(file.toRealPath());
            }
            files.addAll(real);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list the files of " + project.directory(), e);
        }
        return files;
    }

    private static Path headers(Path home) {
        try (Stream<Path> versions = Files.list(home.resolve("lib").resolve("clang"))) {
            return versions.map(version -> version.resolve("include"))
                    .filter(Files::isDirectory)
                    .findFirst()
                    .orElseThrow(() -> new KilnException(Failure.TOOL.problem(
                            "the compiler's own headers are missing", home.toString(), "lib/clang/*/include", "")));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list " + home, e);
        }
    }

    /** An overlay of these files in clang's format, YAML, of which JSON is a subset. */
    private static String overlay(Set<Path> files) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("version", 0);
        root.put("case-sensitive", "true");
        root.put("overlay-relative", false);
        root.put("use-external-names", false);
        root.put("redirecting-with", "redirect-only");
        ArrayNode roots = root.putArray("roots");
        for (Path file : files) {
            ObjectNode node = roots.addObject();
            node.put("type", "file");
            node.put("name", file.toString());
            node.put("external-contents", file.toString());
        }
        try {
            return new ObjectMapper().writeValueAsString(root) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of text can always be written", e);
        }
    }
}
