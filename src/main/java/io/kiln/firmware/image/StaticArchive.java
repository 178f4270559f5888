// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import io.kiln.base.Bytes;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Prints static libraries as GNU ar does, with an index of symbols: System V Application Binary Interface, "Archive File". Equal objects give
 * equal bytes: there are no times and no owners.
 */
public final class StaticArchive {
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
    public static byte[] of(Map<String, Bytes> members) {
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
