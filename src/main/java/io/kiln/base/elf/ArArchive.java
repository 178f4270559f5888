// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.elf;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The members of a static library, in the common format of ar(1) with the long names of System V and of BSD. Every size and offset is checked
 * before it is used, so that a broken library is refused, with the place of the error.
 */
public final class ArArchive {
    private static final String MARK = "!<arch>\n";
    private static final String THIN = "!<thin>\n";
    private static final int HEADER = 60;
    private static final int NAME = 16;
    private static final int SIZE_AT = 48;
    private static final int SIZE_LENGTH = 10;
    private static final int MOST_MEMBERS = 100_000;
    private static final int LONGEST_NAME = 4096;

    private final String file;
    private final Bytes content;
    private String longNames = "";

    /**
     * A member of a library, but for its tables of symbols and names.
     *
     * @param name as the library says it
     */
    public record Member(String name, Bytes content) {}

    private ArArchive(String file, Bytes content) {
        this.file = file;
        this.content = content;
    }

    /**
     * Reads a library.
     *
     * @param file its name, for messages
     * @return its members in order; their content is a part of the library's
     * @throws KilnException if it is not one, is cut short, or is thin: a list of files that lie elsewhere
     */
    public static List<Member> read(String file, Bytes content) {
        return new ArArchive(file, content).members();
    }

    private List<Member> members() {
        String mark = text(0, Math.min(MARK.length(), content.size()));
        if (mark.equals(THIN)) {
            throw Failure.CODE.exception(
                    "this is a thin static library: it has the names of objects, not the objects",
                    file,
                    "a static library with its objects",
                    "Make it without T: ar rcs instead of ar rcsT");
        }
        if (!mark.equals(MARK)) {
            throw broken("it does not begin with " + MARK.strip(), 0);
        }
        List<Member> members = new ArrayList<>();
        int count = 0;
        for (int at = MARK.length(); at < content.size(); count++) {
            if (count == MOST_MEMBERS) {
                throw broken("it has more than " + MOST_MEMBERS + " members", at);
            }
            if (content.size() - at < HEADER
                    || content.get(at + HEADER - 2) != '`'
                    || content.get(at + HEADER - 1) != '\n') {
                throw broken("a member's header is damaged", at);
            }
            int size = size(at);
            take(text(at, NAME).stripTrailing(), at, size, members);
            at += HEADER + size;
            at += at % 2 == 1 && at < content.size() ? 1 : 0;
        }
        return members;
    }

    private int size(int at) {
        String digits = text(at + SIZE_AT, SIZE_LENGTH).stripTrailing();
        if (!digits.matches("[0-9]{1,10}")) {
            throw broken("the size of a member is not a number", at + SIZE_AT);
        }
        long size = Long.parseLong(digits);
        if (size > content.size() - at - HEADER) {
            throw broken("a member of " + size + " bytes ends behind the file", at);
        }
        return (int) size;
    }

    private void take(String name, int at, int size, List<Member> members) {
        int start = at + HEADER;
        if (name.equals("//")) {
            longNames = text(start, size);
        } else if (name.startsWith("#1/")) {
            int length = number(name.substring(3), size, at);
            String real = text(start, length);
            int end = real.indexOf('\0');
            add(end < 0 ? real : real.substring(0, end), start + length, size - length, members);
        } else if (name.matches("/[0-9]+")) {
            int from = number(name.substring(1), longNames.length(), at);
            int end = longNames.indexOf('\n', from);
            String real = longNames.substring(from, end < 0 ? longNames.length() : end);
            add(real.endsWith("/") ? real.substring(0, real.length() - 1) : real, start, size, members);
        } else if (!name.equals("/") && !name.equals("/SYM64/")) {
            add(name.endsWith("/") ? name.substring(0, name.length() - 1) : name, start, size, members);
        }
    }

    private void add(String name, int start, int size, List<Member> members) {
        if (name.length() > LONGEST_NAME) {
            throw broken("the name of a member has " + name.length() + " bytes", start);
        }
        if (!name.startsWith("__.SYMDEF")) {
            members.add(new Member(name, content.part(start, size)));
        }
    }

    private int number(String digits, int most, int at) {
        if (!digits.matches("[0-9]{1,9}") || Integer.parseInt(digits) > most) {
            throw broken("the name of a member lies outside of it", at);
        }
        return Integer.parseInt(digits);
    }

    private String text(int from, int length) {
        byte[] bytes = new byte[length];
        content.buffer().get(from, bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private KilnException broken(String what, int at) {
        return Failure.CODE.exception(
                "this is not a whole static library: " + what,
                file + String.format(Locale.ROOT, ", offset 0x%x", at),
                "",
                "Make it again");
    }
}
