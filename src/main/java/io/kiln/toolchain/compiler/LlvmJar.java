// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Enumeration;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * The layout of {@code org.bytedeco:llvm}: programs, libraries and {@code lib/clang} side by side in one folder of the
 * jar. Only what compiling and linking C needs is unpacked, to where clang looks for it: programs to {@code bin},
 * libraries and clang's headers to {@code lib}. Names of Linux libraries in the jar lack the version, which is added
 * here because the programs load the libraries by versioned names.
 */
final class LlvmJar {
    private static final Pattern ENTRY = Pattern.compile("org/bytedeco/llvm/[^/]+/(.+)");
    private static final Pattern LIBRARY = Pattern.compile("(?:lib)?(LLVM|clang-cpp)[^/]*\\.(so|dylib|dll)[.0-9]*");
    private static final Pattern VERSION = Pattern.compile("([0-9]+\\.[0-9]+)\\..*");

    private LlvmJar() {}

    /**
     * Unpacks into a new folder.
     *
     * @param version version of the artifact, such as {@code 20.1.7-1.5.12}
     */
    static void unpack(Path jar, String version, Path folder) throws IOException {
        String suffix = librarySuffix(version);
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            Enumeration<? extends ZipEntry> entries = zip.entries();
            while (entries.hasMoreElements()) {
                ZipEntry entry = entries.nextElement();
                Optional<String> place = entry.isDirectory() ? Optional.empty() : place(entry.getName(), suffix);
                if (place.isPresent()) {
                    copy(zip, entry, inside(folder, place.get(), jar));
                }
            }
        }
        Path linker = folder.resolve("bin").resolve("ld.lld");
        Path lld = folder.resolve("bin").resolve("lld");
        if (Files.exists(lld)) {
            Files.createSymbolicLink(linker, lld.getFileName());
        }
    }

    /** LLVM's libraries are named after its major and minor version: {@code .so.20.1}. */
    private static String librarySuffix(String version) {
        Matcher numbers = VERSION.matcher(version);
        if (!numbers.matches()) {
            throw new KilnException(Failure.TOOL.problem(
                    "the version of LLVM has no major and minor number: " + version,
                    "bundle.version of the compiler's descriptor",
                    "a version such as 20.1.7-1.5.12",
                    ""));
        }
        return ".so." + numbers.group(1);
    }

    /** The path of an unpacked entry; empty if it is not needed. */
    private static Optional<String> place(String entry, String librarySuffix) {
        Matcher inside = ENTRY.matcher(entry);
        if (!inside.matches()) {
            return Optional.empty();
        }
        String file = inside.group(1);
        if (Set.of("clang", "lld").contains(file)) {
            return Optional.of("bin/" + file);
        }
        if (file.startsWith("lib/clang/")) {
            return Optional.of(file);
        }
        Matcher library = LIBRARY.matcher(file);
        if (!library.matches()) {
            return Optional.empty();
        }
        return Optional.of(
                switch (library.group(2)) {
                    case "so" -> "lib/" + file.replaceFirst("\\.so.*", librarySuffix);
                    case "dll" -> "bin/" + file;
                    default -> "lib/" + file;
                });
    }

    private static Path inside(Path folder, String place, Path jar) {
        Path file = folder.resolve(place).normalize();
        if (!file.startsWith(folder)) {
            throw new KilnException(Failure.TOOL.problem(
                    "an entry leads out of the archive: " + place, jar.toString(), "the artifact as published", ""));
        }
        return file;
    }

    private static void copy(ZipFile zip, ZipEntry entry, Path file) throws IOException {
        Files.createDirectories(file.getParent());
        try (InputStream in = zip.getInputStream(entry);
                OutputStream out = file.toString().endsWith(".h")
                        ? Files.newOutputStream(file, StandardOpenOption.CREATE_NEW)
                        : Channels.newOutputStream(WholeFiles.newProgram(file))) {
            in.transferTo(out);
        }
    }
}
