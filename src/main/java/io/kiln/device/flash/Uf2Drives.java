// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds the drives of boot loaders that take UF2 files: each has a file that says so. */
public final class Uf2Drives {
    /** The file at a drive's root, whose case does not matter to its file system. */
    static final String INFO = "INFO_UF2.TXT";

    /** Where Linux lists what is mounted. */
    public static final Path MOUNTS = Path.of("/proc/mounts");

    private static final Path VOLUMES = Path.of("/Volumes");
    private static final int MOST_BYTES = 4096;
    private static final int OCTAL = 8;
    private static final Pattern BOARD_ID = Pattern.compile("(?mi)^Board-ID:[ \\t]*([!-~][ -~]{0,80}?)\\s*$");
    private static final Pattern ESCAPE = Pattern.compile("\\\\([0-7]{3})");

    private Uf2Drives() {}

    /**
     * The drives of this computer.
     *
     * @param mounts the list of mounted file systems, where the system has one
     */
    public static List<Path> find(Path mounts) {
        List<Path> places = new ArrayList<>();
        FileSystems.getDefault().getRootDirectories().forEach(places::add);
        if (Files.isRegularFile(mounts)) {
            places.addAll(mounted(mounts));
        }
        if (Files.isDirectory(VOLUMES)) {
            try (Stream<Path> volumes = Files.list(VOLUMES)) {
                volumes.forEach(places::add);
            } catch (IOException e) {
                // What cannot be listed has no drives that could be used.
                return places;
            }
        }
        return places.stream()
                .filter(place -> boardId(place).isPresent())
                .distinct()
                .sorted()
                .toList();
    }

    private static List<Path> mounted(Path mounts) {
        List<Path> places = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(mounts, StandardCharsets.ISO_8859_1)) {
                String[] fields = line.split(" ", -1);
                if (fields.length > 2 && fields[2].matches("vfat|msdos|exfat|fuseblk")) {
                    places.add(Path.of(unescaped(fields[1])));
                }
            }
        } catch (IOException | InvalidPathException e) {
            return places;
        }
        return places;
    }

    /** A path in the list, where octal numbers stand for spaces; its bytes are those of the system. */
    private static String unescaped(String field) {
        String bytes = ESCAPE.matcher(field)
                .replaceAll(
                        match -> Matcher.quoteReplacement(Character.toString(Integer.parseInt(match.group(1), OCTAL))));
        return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    /** What a drive's file calls the board; empty if this is no such drive. */
    static Optional<String> boardId(Path drive) {
        try (InputStream in = Files.newInputStream(drive.resolve(INFO))) {
            String text = new String(in.readNBytes(MOST_BYTES), StandardCharsets.ISO_8859_1);
            return BOARD_ID.matcher(text).results().map(match -> match.group(1)).findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
