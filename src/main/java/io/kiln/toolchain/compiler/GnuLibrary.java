// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.process.Command;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The C library of a GNU toolchain for one core, for another compiler of the same core: the folders of its headers and
 * the archives that a link takes. The toolchain's driver is asked for both, because distributions put them in different
 * places.
 *
 * @param headers folders of headers, in order
 * @param archives the library, the mathematical functions and the compiler's own
 */
record GnuLibrary(List<Path> headers, List<Path> archives) {
    /** The library of system calls that all fail; the firmware has its own. */
    private static final String NO_SYSTEM = "nosys";

    /** The first member of an archive with symbols is named with a slash. */
    private static final String TABLE_OF_SYMBOLS = "!<arch>\n/ ";

    /** Where the table's content begins, with the number of symbols: behind the mark and the member's header of 60 bytes. */
    private static final int TABLE_CONTENT = 68;

    private static final String BEGIN_OF_SEARCH = "#include <...> search starts here:";
    private static final String END_OF_SEARCH = "End of search list.";

    GnuLibrary {
        headers = List.copyOf(headers);
        archives = List.copyOf(archives);
    }

    /**
     * Asks a toolchain for its C library.
     *
     * @throws KilnException if it has no C library for the core, with the package that has one
     */
    static GnuLibrary of(Toolchain gnu) {
        List<Path> headers = headers(gnu);
        List<Path> archives = archives(gnu);
        if (headers.isEmpty() || archives.stream().noneMatch(GnuLibrary::isC)) {
            throw Failure.TOOL.exception(
                    "there is no C library for " + gnu.cpu() + " in the toolchain " + gnu.compiler(),
                    "kiln.libc",
                    "newlib-nano or picolibc",
                    "Get it with: apt-get install libnewlib-arm-none-eabi picolibc-riscv64-unknown-elf");
        }
        return new GnuLibrary(headers, archives);
    }

    /** The folders of a toolchain's C++ headers, in order; empty if it has none. */
    static List<Path> cplusplus(Toolchain gnu) {
        return searched(gnu, "c++").stream()
                .filter(folder -> folder.toString().contains("c++"))
                .toList();
    }

    private static boolean isC(Path archive) {
        return archive.getFileName().toString().startsWith("libc");
    }

    /** The search folders that hold the library's headers; the compiler has others of its own. */
    private static List<Path> headers(Toolchain gnu) {
        return searched(gnu, "c").stream()
                .filter(folder -> Files.isRegularFile(folder.resolve("stdio.h")))
                .toList();
    }

    private static List<Path> searched(Toolchain gnu, String language) {
        List<Path> folders = new ArrayList<>();
        boolean isSearched = false;
        for (String line : said(gnu, gnu.flags().compile(), List.of("-E", "-v"), language)
                .lines()
                .toList()) {
            if (line.equals(BEGIN_OF_SEARCH)) {
                isSearched = true;
            } else if (line.equals(END_OF_SEARCH)) {
                isSearched = false;
            } else if (isSearched) {
                folders.add(Path.of(line.strip()).normalize());
            }
        }
        return folders;
    }

    /** The archives that the driver would pass to the linker. */
    private static List<Path> archives(Toolchain gnu) {
        List<Path> folders = new ArrayList<>();
        Set<String> names = new LinkedHashSet<>();
        List<String> flags =
                Stream.concat(gnu.link().stream(), gnu.libraries().stream()).toList();
        for (String word : said(gnu, flags, List.of("-###"), "c").strip().split("\\s+", -1)) {
            String plain = word.replace("\"", "");
            if (plain.startsWith("-L")) {
                folders.add(Path.of(plain.substring(2)).normalize());
            } else if (plain.matches("-l[a-z_0-9]+") && !plain.equals("-l" + NO_SYSTEM)) {
                names.add("lib" + plain.substring(2) + ".a");
            }
        }
        return names.stream().flatMap(name -> find(folders, name).stream()).toList();
    }

    private static Optional<Path> find(List<Path> folders, String name) {
        return folders.stream()
                .map(folder -> folder.resolve(name))
                .filter(Files::isRegularFile)
                .filter(GnuLibrary::hasSymbols)
                .findFirst();
    }

    /** Whether an archive's table of symbols, its first member, has any: without them it has nothing to link, and may be of another machine. */
    private static boolean hasSymbols(Path archive) {
        try (InputStream in = Files.newInputStream(archive)) {
            byte[] begin = in.readNBytes(TABLE_CONTENT + Integer.BYTES);
            return begin.length == TABLE_CONTENT + Integer.BYTES
                    && new String(begin, StandardCharsets.US_ASCII).startsWith(TABLE_OF_SYMBOLS)
                    && ByteBuffer.wrap(begin).getInt(TABLE_CONTENT) > 0;
        } catch (IOException e) {
            throw FileFailure.of("cannot read", archive, e);
        }
    }

    /** The driver's output for an empty source. */
    private static String said(Toolchain gnu, List<String> flags, List<String> question, String language) {
        List<String> line = new ArrayList<>(List.of(gnu.compiler()));
        line.addAll(flags);
        line.addAll(question);
        line.addAll(List.of("-x", language, "-"));
        ProcessResult result =
                ProcessRunner.run(Command.ofLine(line).reading(Bytes.ofText("")).within(Duration.ofSeconds(60)));
        if (!result.succeeded()) {
            throw Failure.TOOL.exception(
                    "the compiler does not tell where its C library is: " + result.message(),
                    gnu.compiler(),
                    "a GNU compiler with newlib-nano or picolibc");
        }
        return result.errors();
    }
}
