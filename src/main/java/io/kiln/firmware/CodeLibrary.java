// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.StoredZip;
import io.kiln.base.WholeFiles;
import io.kiln.firmware.CodeFolder.Role;
import io.kiln.toolchain.compiler.TargetOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * C that several firmwares have in common, an artifact of packaging {@code firmware-library}: sources in {@code c}, headers
 * in {@code include}, and static libraries in {@code lib/<core>}, such as {@code lib/cortex-m4/libdsp.a}.
 *
 * @param name its name in the C project and in debug information
 * @param place the artifact, or the folder {@code src/main} of a module that is not packaged yet
 */
public record CodeLibrary(String name, Path place) {
    private static final String SOURCES = "c";
    private static final String HEADERS = "include";
    private static final String ARCHIVES = "lib";
    private static final int DIGITS = 16;
    private static final int MOST_ENTRIES = 20_000;
    private static final long MOST_BYTES = 256L << 20;

    /** The path of a file in one of the folders of a library; no part of it is {@code .} or {@code ..}. */
    private static final Pattern NAME =
            Pattern.compile("(?:c|include|lib)(?:/(?!\\.\\.?(?:/|$))[^/\\\\\\p{Cntrl}:]{1,100}){1,16}");

    /**
     * Adds the library to the code of a project.
     *
     * @param cpu the core that the code is compiled for
     * @param folder where artifacts are unpacked
     * @throws KilnException if the library has nothing for the core, or the artifact is damaged
     */
    public UserCode addTo(UserCode code, String cpu, Path folder) {
        Path root = Files.isDirectory(place) ? place : unpacked(folder);
        UserCode all = code;
        if (Files.isDirectory(root.resolve(SOURCES))) {
            all = all.with(folder(root, SOURCES, Role.PRIVATE));
        }
        if (Files.isDirectory(root.resolve(HEADERS))) {
            all = all.with(folder(root, HEADERS, Role.HEADERS));
        }
        String archives = ARCHIVES + "/" + cpu;
        if (Files.isDirectory(root.resolve(archives))) {
            all = all.with(folder(root, archives, Role.PRIVATE));
        } else if (!cpu.equals(TargetOptions.HOST)
                && Files.isDirectory(root.resolve(ARCHIVES))
                && !Files.isDirectory(root.resolve(SOURCES))) {
            throw Failure.LIBRARY.exception(
                    "the library " + name + " has nothing for the core " + cpu,
                    place.toString(),
                    "a folder " + archives + " with static libraries, or sources in " + SOURCES);
        }
        if (all.equals(code) && !Files.isDirectory(root.resolve(ARCHIVES))) {
            throw Failure.LIBRARY.exception(
                    "the library " + name + " has no code",
                    place.toString(),
                    "sources in c, headers in include, or static libraries in lib/<core>");
        }
        return all;
    }

    private CodeFolder folder(Path root, String part, Role role) {
        return new CodeFolder(root.resolve(part), "libraries/" + name + "/" + part, name + "/" + part, role);
    }

    /** Unpacks each content once, into a folder of its own that appears complete or not at all. */
    private Path unpacked(Path folder) {
        Path target = folder.resolve(name + "-" + Digests.sha256(place).substring(0, DIGITS));
        Path mark = target.resolve(".complete");
        if (!Files.exists(mark)) {
            WholeFiles.write(target, read(place));
            WholeFiles.write(mark, "");
        }
        return target;
    }

    /**
     * Writes the artifact of a module: the same bytes for the same files.
     *
     * @param main the module's {@code src/main}
     * @throws KilnException naming every file that no firmware would take
     */
    public static void pack(Path main, Path zip) {
        UserCode code = UserCode.NONE;
        for (String part : new String[] {SOURCES, HEADERS, ARCHIVES}) {
            if (Files.isDirectory(main.resolve(part))) {
                Role role = part.equals(HEADERS) ? Role.HEADERS : Role.PRIVATE;
                code = code.with(new CodeFolder(main.resolve(part), part, part, role));
            }
        }
        SortedMap<String, Bytes> files = new TreeMap<>(UserSources.read(code));
        if (files.isEmpty()) {
            throw Failure.LIBRARY.exception(
                    "the library has no code",
                    main.toString(),
                    "sources in src/main/c, headers in src/main/include, or static libraries in src/main/lib/<core>");
        }
        byte[] content = StoredZip.of(files);
        read(zip, content);
        WholeFiles.write(zip, content);
    }

    /** The files of a library's zip by path, read in bounded memory; names that lead out of its folders are refused. */
    private static SortedMap<String, Bytes> read(Path zip) {
        try {
            if (Files.size(zip) > MOST_BYTES) {
                throw refused(zip, "the archive is too large", "at most " + (MOST_BYTES >> 20) + " MiB");
            }
            return read(zip, Files.readAllBytes(zip));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", zip, e);
        }
    }

    /**
     * Reads the content of an archive.
     *
     * @param zip the archive, for messages
     * @throws KilnException if it is not a zip, too large, or has files that no library has
     */
    private static SortedMap<String, Bytes> read(Path zip, byte[] content) {
        SortedMap<String, Bytes> files = new TreeMap<>();
        long room = MOST_BYTES;
        int entries = 0;
        try (ZipInputStream in = new ZipInputStream(new ByteArrayInputStream(content))) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                entries++;
                if (entries > MOST_ENTRIES) {
                    throw refused(zip, "the archive has too many entries", "at most " + MOST_ENTRIES);
                }
                if (entry.isDirectory()) {
                    checkFolder(zip, entry.getName(), in);
                    continue;
                }
                byte[] file = in.readNBytes((int) Math.min(room + 1, Integer.MAX_VALUE));
                room -= file.length;
                if (room < 0) {
                    throw refused(zip, "the archive's content is too large", "at most " + (MOST_BYTES >> 20) + " MiB");
                }
                String name = entry.getName();
                if (!NAME.matcher(name).matches() || files.put(name, Bytes.wrap(file)) != null) {
                    throw refused(
                            zip,
                            "the entry " + printable(name) + " does not belong into a library",
                            "each file once, in c, include or lib");
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            throw new KilnException(
                    Failure.LIBRARY.problem(
                            "this is not a zip: " + e.getMessage(), zip.toString(), "a firmware library"),
                    e);
        }
        if (files.isEmpty()) {
            throw refused(zip, "the archive has no code", "an artifact of packaging firmware-library");
        }
        return files;
    }

    /** Refuses a folder's entry that has content, which reading the next entry would unpack first, however long it is. */
    private static void checkFolder(Path zip, String name, InputStream content) throws IOException {
        if (content.read() >= 0) {
            throw refused(zip, "the folder " + printable(name) + " has content", "only files with content");
        }
    }

    private static String printable(String name) {
        return name.replaceAll("[^ -~]", "?");
    }

    private static KilnException refused(Path zip, String what, String expected) {
        return Failure.LIBRARY.exception(what, zip.toString(), expected);
    }
}
