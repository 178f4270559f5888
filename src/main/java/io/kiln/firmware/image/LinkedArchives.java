// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import io.kiln.base.WholeFiles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The static libraries of which an image has members, as the linker's map states them: GNU ld and LLD write {@code path/libc.a(member.o)}. */
public final class LinkedArchives {
    private static final Pattern MEMBER = Pattern.compile("(?<![^\\s:(])(/?[^\\s:()]+\\.a)[(]([^\\s()]+)[)]");

    private LinkedArchives() {}

    /**
     * Members by library, sorted.
     *
     * @param map the linker's map
     * @param directory the folder in which the linker ran
     */
    public static SortedMap<Path, Set<String>> read(Path map, Path directory) {
        SortedMap<Path, Set<String>> members = new TreeMap<>();
        Matcher matcher = MEMBER.matcher(WholeFiles.text(map, StandardCharsets.ISO_8859_1));
        while (matcher.find()) {
            Path archive = directory.resolve(matcher.group(1)).normalize();
            members.computeIfAbsent(archive, path -> new TreeSet<>()).add(matcher.group(2));
        }
        return Collections.unmodifiableSortedMap(members);
    }
}
