// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.toolchain.compiler.SourceKind;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A static library of an image's models with their kernels and the runtime, for another build: without start-up code, console, application and
 * functions of a C library. Beside it lie the headers and a file for CMake.
 *
 * @param objects those of the image
 * @param name the library's name, without {
 * @param version of Kiln, for CMake
 */
public record StaticLibrary(CompiledObjects objects, String name, String version) {
    private static final String INCLUDE = "include";

    /**
     * Writes the library.
     *
     * @return one line about it
     * @throws KilnException if the project has a program of its own
     */
    public String write(Path folder) {
        FirmwareProject project = objects.project();
        if (!project.hasDefaultApplication()) {
            throw Failure.CONFIG.exception(
                    "a library has no main",
                    "kiln.firmware",
                    "kiln.firmware=image, or no main in src/main/c",
                    "Call the model in the program that is linked with the library");
        }
        Map<String, Bytes> members = members();
        byte[] library = StaticArchive.of(members);
        WholeFiles.write(folder.resolve("lib" + name + ".a"), library);
        project.headers().stream()
                .filter(StaticLibrary::isPublic)
                .forEach(header -> WholeFiles.write(
                        folder.resolve(INCLUDE).resolve(header.substring(header.indexOf("/include/") + 9)),
                        WholeFiles.read(project.directory().resolve(header)).toArray()));
        SortedSet<String> needed = needed(members);
        String core = project.toolchain().compileFlags(SourceKind.OWN, project.optimize()).stream()
                .filter(flag -> flag.startsWith("-m") && !flag.equals("-mllvm"))
                .collect(Collectors.joining(" "));
        ResourceTree.read("export/static")
                .forEach((file, text) -> WholeFiles.write(
                        folder.resolve(file.replace("NAME", name)),
                        text.text()
                                .replace("@NAME@", name)
                                .replace("@VERSION@", version)
                                .replace("@BOARD@", project.board().id())
                                .replace("@TOOLCHAIN@", project.toolchain().title())
                                .replace("@FLAGS@", core)
                                .replace("@NEEDED@", needed.isEmpty() ? "nothing" : String.join(", ", needed))));
        return "Library " + folder.resolve("lib" + name + ".a")
                + String.format(Locale.ROOT, ": %,d bytes, ", library.length)
                + members.size() + " objects; it needs "
                + (needed.isEmpty() ? "nothing" : String.join(", ", needed));
    }

    private static boolean isPublic(String header) {
        return header.endsWith(".h")
                && header.contains("/include/")
                && Stream.of(ProjectFiles.SHIMS, ProjectFiles.BOARD, ProjectFiles.USER)
                        .noneMatch(folder -> header.startsWith(folder + "/"));
    }

    /** The objects by a name that tells their folder, in the order in which they are linked. */
    private Map<String, Bytes> members() {
        FirmwareProject project = objects.project();
        Map<String, Bytes> members = new LinkedHashMap<>();
        for (SourceUnit unit : project.units()) {
            if (Stream.of(ProjectFiles.BOARD, ProjectFiles.APPLICATION, ProjectFiles.SHIMS, "libc")
                    .noneMatch(folder -> unit.path().startsWith(folder + "/"))) {
                members.put(
                        member(unit.path()) + ".o",
                        WholeFiles.read(objects.files().get(unit.path())));
            }
        }
        for (String object : project.objects()) {
            members.put(member(object), WholeFiles.read(project.directory().resolve(object)));
        }
        return members;
    }

    private static String member(String path) {
        return path.replace('/', '_');
    }

    /** What the library calls and does not have. */
    private static SortedSet<String> needed(Map<String, Bytes> members) {
        SortedSet<String> needed = new TreeSet<>();
        SortedSet<String> defined = new TreeSet<>();
        members.forEach((member, content) -> {
            for (Symbol symbol : ElfFile.read(content, member).symbols()) {
                if (symbol.isExported()) {
                    defined.add(symbol.name());
                } else if (symbol.section() == 0 && symbol.binding() != 0) {
                    needed.add(symbol.name());
                }
            }
        });
        needed.removeAll(defined);
        return needed;
    }

    /**
     * Prints static libraries as GNU ar does, with an index of symbols: System V Application Binary Interface, "Archive File". Equal objects give
     * equal bytes: there are no times and no owners.
     */
    private static final class StaticArchive {
        private static final String MAGIC = "!<arch>\n";
        private static final String END = "`\n";
        private static final int HEADER = 60;
        private static final int LONGEST_NAME = 15;

        private StaticArchive() {}

        /**
         * The library.
         *
         * @param members ELF objects by name, in order
         */
        static byte[] of(Map<String, Bytes> members) {
            Map<String, List<String>> symbols = new LinkedHashMap<>();
            members.forEach((name, content) -> symbols.put(
                    name,
                    ElfFile.read(content, name).symbols().stream()
                            .filter(Symbol::isExported)
                            .map(Symbol::name)
                            .toList()));
            StringBuilder longNames = new StringBuilder();
            SortedMap<String, String> written = new TreeMap<>();
            for (String name : members.keySet()) {
                if (name.length() > LONGEST_NAME) {
                    written.put(name, "/" + longNames.length());
                    longNames.append(name).append("/\n");
                } else {
                    written.put(name, name + "/");
                }
            }
            int entries = symbols.values().stream().mapToInt(List::size).sum();
            int texts = symbols.values().stream()
                    .flatMap(List::stream)
                    .mapToInt(text -> text.getBytes(StandardCharsets.UTF_8).length + 1)
                    .sum();
            int index = Integer.BYTES * (entries + 1) + texts;
            int at = MAGIC.length() + HEADER + even(index);
            if (!longNames.isEmpty()) {
                at += HEADER + even(longNames.length());
            }
            ByteBuffer places = ByteBuffer.allocate(index).putInt(entries);
            ByteArrayOutputStream names = new ByteArrayOutputStream();
            for (Map.Entry<String, Bytes> member : members.entrySet()) {
                for (String symbol : symbols.get(member.getKey())) {
                    places.putInt(at);
                    names.writeBytes((symbol + "\0").getBytes(StandardCharsets.UTF_8));
                }
                at += HEADER + even(member.getValue().size());
            }
            places.put(names.toByteArray());
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.writeBytes(MAGIC.getBytes(StandardCharsets.US_ASCII));
            member(out, "/", places.array());
            if (!longNames.isEmpty()) {
                member(out, "//", longNames.toString().getBytes(StandardCharsets.UTF_8));
            }
            members.forEach((name, content) -> member(out, written.get(name), content.toArray()));
            return out.toByteArray();
        }

        private static int even(int size) {
            return size + size % 2;
        }

        private static void member(ByteArrayOutputStream out, String name, byte[] content) {
            String size = String.valueOf(content.length);
            String header = padded(name, 16)
                    + padded("0", 12)
                    + padded("0", 6)
                    + padded("0", 6)
                    + padded("644", 8)
                    + padded(size, 10)
                    + END;
            out.writeBytes(header.getBytes(StandardCharsets.US_ASCII));
            out.writeBytes(content);
            if (content.length % 2 != 0) {
                out.write('\n');
            }
        }

        private static String padded(String text, int width) {
            return text + " ".repeat(width - text.length());
        }
    }
}
