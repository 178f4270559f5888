// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.ParameterValue;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.BoardSupport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a project brings itself in place of the board's: a vendor's start-up code, linker script and drivers.
 *
 * @param isLibrary whether the models are wanted as a static library for another build
 * @param startup whether the project's code has reset, vectors and handlers
 * @param linker the linker script
 * @param console who defines the functions of {@code kiln_console.h}
 */
public record OwnParts(boolean isLibrary, boolean startup, Optional<Path> linker, Console console) {
    /** An image for which the board has everything. */
    public static final OwnParts NONE = new OwnParts(false, false, Optional.empty(), Console.BOARD);

    private static final String FOLDER = "own";
    private static final String CONSOLE_SOURCE = "console.c";

    /** Sources of boards from reset to main, which are left out for those of a project. */
    private static final Set<String> STARTUP = Set.of("startup.c", "boot2.S", "image_definition.c");

    private static final String SCRIPT = ".ld";
    private static final Pattern MEMORIES = Pattern.compile("\\bMEMORY\\s*\\{[^}]*}");

    /** GNU ld's word for sections that are not written although their input is; LLD takes it for a symbol. */
    private static final String READ_ONLY = "(READONLY)";

    private static final int LARGEST_SCRIPT = 1 << 20;

    /** Consoles. */
    public enum Console {
        /** The board's. */
        BOARD,
        /** The project's code defines the functions. */
        OWN,
        /** What is sent is lost. */
        NONE
    }

    /**
     * Reads the parameters.
     *
     * @param firmware {@code kiln.firmware}
     * @param startup {@code kiln.startup}
     * @param linker the file that {@code kiln.linker} names; {@code own} in the project's folder stands for the only script there
     * @param console {@code kiln.console}
     * @throws KilnException for values that do not exist
     */
    public static OwnParts of(String firmware, String startup, Optional<Path> linker, String console) {
        return new OwnParts(
                ParameterValue.of("kiln.firmware", Product.class, firmware) == Product.LIBRARY,
                ParameterValue.of("kiln.startup", Startup.class, startup) == Startup.OWN,
                linker.map(OwnParts::script),
                ParameterValue.of("kiln.console", Console.class, console));
    }

    private enum Product {
        IMAGE,
        LIBRARY
    }

    private enum Startup {
        BOARD,
        OWN
    }

    private static Path script(Path named) {
        if (!named.endsWith(FOLDER) || Files.exists(named)) {
            return named;
        }
        Path folder = named.toAbsolutePath().getParent();
        List<Path> scripts = WholeFiles.list(folder).stream()
                .filter(file -> file.toString().endsWith(SCRIPT))
                .toList();
        if (scripts.size() != 1) {
            throw Failure.CONFIG.exception(
                    "there are " + scripts.size() + " linker scripts in " + folder,
                    "kiln.linker",
                    "one, or its name",
                    "Set -Dkiln.linker=<file>");
        }
        return scripts.get(0);
    }

    /** The same for a stand-in, whose memories a script for another board does not have. */
    public OwnParts withoutLinker() {
        return new OwnParts(isLibrary, startup, Optional.empty(), console);
    }

    /** Whether anything of the board is replaced. */
    private boolean isAny() {
        return startup || linker.isPresent() || console != Console.BOARD;
    }

    /** Whether what is copied to RAM at the start would be missed by a start-up code or a linker script that does not know of it. */
    public boolean forbidsCopies() {
        return startup || linker.isPresent();
    }

    /**
     * A board without what the project brings.
     *
     * @throws KilnException if that cannot be left out, or the script cannot be read
     */
    public Board replaceIn(Board board) {
        if (!isAny()) {
            return board;
        }
        BoardSupport support = board.support();
        List<String> sources = new ArrayList<>(support.sources());
        SortedMap<String, Bytes> files = new TreeMap<>(support.files());
        Optional<String> script = support.linker();
        if (startup) {
            requireCortexM(board);
            sources.removeIf(STARTUP::contains);
            files.remove(InterruptTable.LIST);
            sources.add(added("startup.c", files));
            script = script.map(name -> namedAsVendorsDo(name, files));
        }
        if (console != Console.BOARD) {
            sources.remove(CONSOLE_SOURCE);
        }
        if (console == Console.NONE) {
            sources.add(added(CONSOLE_SOURCE, files));
        }
        if (linker.isPresent()) {
            files.put(FOLDER + SCRIPT, read(linker.get()));
            script = Optional.of(FOLDER + SCRIPT);
        }
        return board.with(
                new BoardSupport(sources, script, files, support.untrusted(), support.foreignFiles(), support.pack()));
    }

    private static void requireCortexM(Board board) {
        if (!board.support().sources().contains("startup.c")
                || !board.targetOption("mcpu").orElse("").startsWith("cortex-m")) {
            throw Failure.BOARD.exception(
                    "start-up code of the project's own needs a Cortex-M core",
                    "board " + board.id(),
                    "kiln.startup=board");
        }
    }

    private static String added(String resource, SortedMap<String, Bytes> files) {
        String name = FOLDER + "_" + resource;
        files.put(name, ResourceTree.read(FOLDER).get(resource));
        return name;
    }

    /** Each of the board's scripts, such as {@code memory.slots.ld}, gets one around it with more names; the first one's is returned. */
    private static String namedAsVendorsDo(String usual, SortedMap<String, Bytes> files) {
        String stem = usual.substring(0, usual.length() - SCRIPT.length());
        String names = ResourceTree.read(FOLDER).get("startup" + SCRIPT).text();
        for (String each : List.copyOf(files.keySet())) {
            if (each.startsWith(stem + ".") && each.endsWith(SCRIPT)) {
                String text = "/* SPDX-License-Identifier: Apache-2.0 */\nINCLUDE " + each + "\n" + names;
                files.put(FOLDER + each.substring(stem.length()), Bytes.ofText(text));
            }
        }
        return FOLDER + SCRIPT;
    }

    /** LLD knows a memory only behind its definition, before which ST's scripts use it. Lines keep their numbers. */
    private static String memoriesFirst(String script) {
        Matcher memories = MEMORIES.matcher(script);
        if (!memories.find()) {
            return script;
        }
        String block = memories.group();
        return block.replaceAll("\\R", " ") + " " + script.substring(0, memories.start())
                + block.replaceAll("[^\\n]", "") + script.substring(memories.end());
    }

    private static Bytes read(Path script) {
        try {
            if (!Files.isRegularFile(script) || Files.size(script) > LARGEST_SCRIPT) {
                throw Failure.CONFIG.exception(
                        "there is no such linker script", script.toString(), "a file of at most 1 MiB");
            }
            return Bytes.ofText(memoriesFirst(Files.readString(script).replace(READ_ONLY, ""))
                    + ResourceTree.read(FOLDER).get("linker" + SCRIPT).text());
        } catch (IOException e) {
            throw FileFailure.of("cannot read", script, e);
        }
    }

    /**
     * Prints the vectors of a board's interrupts from its {@code interrupts.txt}: a line for each interrupt in the order of
     * their numbers, with the vendor's name of the handler, or {@code -} where there is none; lines with {@code #} are comments.
     * A firmware defines the handlers that it needs. On Cortex-M the vectors follow those of the core. On RISC-V the numbers are
     * those of the PLIC's sources, and one entry for all interrupts asks the PLIC which one it is (RISC-V PLIC specification 1.0.0).
     */
    static final class InterruptTable {
        /** Name of the board's list of interrupts. */
        static final String LIST = "interrupts.txt";

        /** The printed source, in the board's folder. */
        static final String SOURCE = "interrupts.c";

        private static final String NONE = "-";
        private static final Pattern HANDLER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,99}");

        /** Most interrupts of a core: Armv7-M Architecture Reference Manual, B3.4. */
        private static final int MOST = 496;

        /** Templates of the source, for each family of cores. */
        private static final String TEMPLATES = "interrupts";

        private InterruptTable() {}

        /**
         * The source for a board; empty if it has no list.
         *
         * @throws KilnException naming the line that is not a handler
         */
        static Optional<Bytes> source(Board board) {
            return Optional.ofNullable(board.files().get(LIST))
                    .map(list -> Bytes.ofText(print(board, handlers(board, list))));
        }

        /** The handler of an interrupt, if the board's list names one. */
        static Optional<String> handler(Board board, int number) {
            return Optional.ofNullable(board.files().get(LIST))
                    .map(list -> handlers(board, list))
                    .filter(names -> number < names.size())
                    .map(names -> names.get(number))
                    .filter(name -> !name.equals(NONE));
        }

        private static List<String> handlers(Board board, Bytes list) {
            List<String> handlers = new ArrayList<>();
            int line = 0;
            for (String each : list.text().lines().toList()) {
                line++;
                String name = each.strip();
                if (name.isEmpty() || name.startsWith("#")) {
                    continue;
                }
                boolean isHandler = name.equals(NONE)
                        || (HANDLER.matcher(name).matches() && !handlers.contains(name) && handlers.size() < MOST);
                if (!isHandler) {
                    throw Failure.CODE.exception(
                            "this is not a handler of an interrupt",
                            board.id() + "/" + LIST + ":" + line,
                            "at most " + MOST + " names of C functions, each once, or -",
                            "Correct the line");
                }
                handlers.add(name);
            }
            return handlers;
        }

        private static String print(Board board, List<String> handlers) {
            boolean isRiscV = board.targetOption("march").orElse("").startsWith("rv");
            String unhandled = isRiscV ? "kiln_no_handler" : "kiln_interrupt";
            String declarations = handlers.stream()
                    .filter(name -> !name.equals(NONE))
                    .map(name -> "void " + name + "(void) __attribute__((weak, alias(\"" + unhandled + "\")));\n")
                    .collect(Collectors.joining());
            String table = handlers.stream()
                    .map(name -> "    " + (name.equals(NONE) ? "0" : name) + ",\n")
                    .collect(Collectors.joining());
            return ResourceTree.read(TEMPLATES)
                    .get(isRiscV ? "risc-v.c" : "cortex-m.c")
                    .text()
                    .replace("@BOARD@", board.id())
                    .replace("@HANDLERS@\n", declarations + "\n")
                    .replace("@TABLE@", table);
        }
    }
}
