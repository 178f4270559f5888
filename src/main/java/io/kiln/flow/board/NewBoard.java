// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.board;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.pack.Packs;
import io.kiln.toolchain.pack.Packs.DeviceBoard;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Writes a board into the project as a starting point: a copy of a similar one, or what a CMSIS-Pack says of a device. */
public record NewBoard(Log log, Boards boards) {
    private static final Pattern ID = Pattern.compile("[a-z0-9][a-z0-9_.-]{0,62}");
    private static final String DESCRIPTOR = "board.yaml";

    /** Files that usually differ between boards of one chip family, copied even if they are inherited. */
    private static final List<String> USUALLY_CHANGED = List.of("kiln_board.h", "clock.c");

    /**
     * Writes the folder of the new board: the files of the source board's folder, and those that usually change. The
     * rest stays inherited.
     *
     * @param from id of the board to start from
     * @param id id of the new board
     * @param folder the project's boards
     * @throws KilnException if the id is invalid or its folder exists, or if the source board is broken or not trusted
     */
    public void write(String from, String id, Path folder) {
        Path place = place(id, folder, example(from));
        Board board = boards.find(from);
        if (board.foreign()) {
            throw refused(
                    "the board " + from + " is from a repository and not trusted, and a copy would be your own",
                    "a board that the build trusts",
                    board.trustAdvice());
        }
        TreeMap<String, Bytes> files = new TreeMap<>();
        files.putAll(boards.ownFiles(from));
        board.linker().ifPresent(script -> files.put(script, board.files().get(script)));
        files.remove("README.md");
        String descriptor = files.remove(DESCRIPTOR).text();
        USUALLY_CHANGED.stream()
                .filter(name -> board.files().containsKey(name))
                .forEach(name -> files.put(name, board.files().get(name)));
        files.put(DESCRIPTOR, Bytes.ofText(renamed(descriptor, board, id)));
        write(files, place);
        files.remove(DESCRIPTOR);
        log.info("Wrote " + place + ": " + DESCRIPTOR + ", " + String.join(", ", files.keySet()));
        log.info("Change what differs; the comments in " + DESCRIPTOR + " say where. Then: -Dkiln.board=" + id);
    }

    private static Path place(String id, Path folder, String example) {
        Path place = folder.resolve(id);
        if (!ID.matcher(id).matches()) {
            throw refused("not a valid board id: \"" + id + "\"", "lower-case letters, digits, - _ .", example);
        }
        if (Files.exists(place)) {
            throw refused("" + place + " exists already", "a new id", "");
        }
        return place;
    }

    /**
     * Writes the folder of a board for a device of a pack.
     *
     * @param pack file or folder
     * @param device its name, {@code [vendor::]device[:core]}
     * @param id of the new board; empty for the device's name
     * @param folder the project's boards
     * @throws KilnException if the pack or the device cannot be used, or if the id is invalid or its folder exists
     */
    public void write(Path pack, String device, String id, Path folder) {
        DeviceBoard.Request request = new DeviceBoard.Request(device, 0, OptionalLong.empty(), true);
        String named = id.isEmpty()
                ? device.substring(device.indexOf("::") + 1)
                        .replaceFirst("^:", "")
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^a-z0-9_.-]", "-")
                : id;
        DeviceBoard board = DeviceBoard.of(Packs.open(pack), request, named);
        Path place = place(named, folder, "Name it: -Dkiln.newBoard=my-sensor");
        write(board.files(), place);
        log.info("Wrote " + place + ": " + String.join(", ", board.files().keySet()));
        log.info("What the pack does not tell, " + board.questions().size() + " questions, stands at the beginning of "
                + DESCRIPTOR + ". Then: -Dkiln.board=" + named);
    }

    /** Writes all files or none, so that a failed copy does not block the next attempt. */
    private static void write(SortedMap<String, Bytes> files, Path place) {
        try {
            WholeFiles.write(place, files);
        } catch (KilnException e) {
            WholeFiles.remove(place);
            throw e;
        }
    }

    private static String renamed(String descriptor, Board from, String id) {
        String comment = "# Copied from " + from.id() + ". What usually differs:\n"
                + "#   title, vendor, url   for people\n"
                + "#   target               the core (-mcpu) and the chip's name"
                + " (-model)\n"
                + "#   memories             the only place for addresses and"
                + " sizes: linker scripts take them from here\n"
                + "#   clock                the core's frequency, from which"
                + " dividers, wait states and the UART's clock follow\n"
                + "#   console              and the UART and its pins in"
                + " kiln_board.h\n"
                + "#   flash                OpenOCD's scripts for the probe and"
                + " the chip; chipId tells the chip from its relatives\n";
        String named = set(set(descriptor, "id", id), "title", id + ", like " + from.id());
        return comment + named;
    }

    /** Sets a top-level key; adds it if the profile inherits its value. */
    private static String set(String descriptor, String key, String value) {
        Matcher line = Pattern.compile("^" + key + ":.*$", Pattern.MULTILINE).matcher(descriptor);
        String text = key + ": " + value;
        return line.find()
                ? line.replaceFirst(Matcher.quoteReplacement(text))
                : descriptor.stripTrailing() + "\n" + text + "\n";
    }

    private static String example(String from) {
        return "Name it: mvn kiln:new-board -Dkiln.board=" + from + " -Dkiln.newBoard=my-sensor";
    }

    private static KilnException refused(String what, String expected, String next) {
        return Failure.BOARD.exception(what, "kiln.newBoard", expected, next);
    }
}
