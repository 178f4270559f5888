// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.flow.device.MonitorStep;
import io.kiln.flow.inspect.Doctor;
import io.kiln.flow.mlperf.MlperfStep;
import io.kiln.flow.spec.BoardSpec;
import io.kiln.flow.spec.BoardSpec.DoctorSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.DeviceSpec.MlperfSpec;
import io.kiln.flow.spec.DeviceSpec.MonitorSpec;
import io.kiln.report.Table;
import io.kiln.report.listing.BoardsReport;
import io.kiln.report.listing.BoardsReport.Console;
import io.kiln.report.listing.BoardsReport.Emulator;
import io.kiln.report.listing.BoardsReport.Entry;
import io.kiln.report.listing.BoardsReport.Memory;
import io.kiln.report.listing.BoardsReport.Profile;
import io.kiln.report.listing.BoardsReport.Timer;
import io.kiln.report.listing.ToolsReport;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Building;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.board.Flashing;
import io.kiln.toolchain.board.Flashing.OpenOcd;
import io.kiln.toolchain.board.Flashing.ProjectApi;
import io.kiln.toolchain.board.PoolMemories;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.pack.Packs;
import io.kiln.toolchain.pack.Packs.DeviceBoard;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The work of the goals that need boards and this computer's tools, but no model. Errors are those of {@link Flow}.
 *
 * @param log gets what is shown
 * @param environment where toolchains come from
 */
public record BoardFlow(Log log, ToolchainEnvironment environment) {
    /** Lists all visible boards, or shows one in full. */
    public void boards(Boards boards, Optional<String> one) {
        one.map(id -> new BoardDescription(boards, id).lines())
                .orElseGet(() -> new BoardList(boards).lines())
                .forEach(log::answer);
    }

    /** What {@link #boards} shows, for programs. */
    public BoardsReport boardsReport(Boards boards, Optional<String> one) {
        BoardList list = new BoardList(boards);
        return one.map(list::report).orElseGet(list::report);
    }

    /**
     * Copies a board under another id.
     *
     * @param folder the project's boards
     */
    public void newBoard(BoardSpec from, String id, Path folder) {
        new NewBoard(log, from.boards()).write(from.id(), id, folder);
    }

    /**
     * Writes a board for a device of a CMSIS-Pack.
     *
     * @param pack file or folder
     * @param device its name
     * @param id of the board; empty for the device's name
     * @param folder the project's boards
     */
    public void newBoard(Path pack, String device, String id, Path folder) {
        new NewBoard(log, Boards.builtIn()).write(pack, device, id, folder);
    }

    /** Lists the devices of CMSIS-Packs whose names match a text. */
    public static void devices(Log log, Path pack, String text) {
        Table table = new Table("device", "core", "clock", "flash", "ram", "pack", "");
        Packs.open(pack)
                .list(text)
                .forEach(each -> table.row(
                        each.name(),
                        each.cores(),
                        each.clock(),
                        each.flash(),
                        each.ram(),
                        each.pack(),
                        each.problem().isEmpty() ? "" : "no board: " + each.problem()));
        table.lines().forEach(log::answer);
    }

    /**
     * Reports what a project and its board need on this computer and what is missing, and installs missing tools on request. If the user names
     * a port, it says what the program there speaks.
     *
     * @param strict whether it is an error if something is missing
     */
    public void doctor(DoctorSpec spec, boolean install, boolean strict) {
        Doctor doctor = new Doctor(log, environment);
        doctor.run(spec, install, strict);
        doctor.ask(spec);
    }

    /** What {@link #doctor} finds, for programs; nothing is installed. */
    public ToolsReport doctorReport(DoctorSpec spec) {
        Doctor doctor = new Doctor(log, environment);
        return doctor.report(spec);
    }

    /**
     * Measures an image that speaks the protocol of MLPerf Tiny.
     *
     * @param build the folders of its build
     */
    public void mlperf(Board board, Layout build, MlperfSpec mlperf) {
        new MlperfStep(log, board, build, mlperf).run();
    }

    /**
     * Shows the output of a board's serial console.
     *
     * @param image the ELF file that it runs, for the names of functions; it need not exist
     */
    public void monitor(Board board, Path image, MonitorSpec monitor) {
        new MonitorStep(log, board, image, monitor).run();
    }

    /** Shows one board in full, with inherited values merged in. */
    public static final class BoardDescription {
        private final Boards boards;
        private final Board board;
        private final List<String> lines = new ArrayList<>();

        /**
         * @param boards all visible boards
         * @param id the board to show
         * @throws io.kiln.base.KilnException if there is no such board, or with all of its errors
         */
        public BoardDescription(Boards boards, String id) {
            this.boards = boards;
            this.board = boards.find(id);
        }

        /** One line for each property of the board. */
        public List<String> lines() {
            line("board", board.id());
            line("title", board.title());
            board.maker().vendor().ifPresent(vendor -> line("vendor", vendor));
            board.maker().url().ifPresent(url -> line("url", url));
            line("from", boards.origin(board.id()) + (board.foreign() ? ", not trusted" : "") + ": " + board.origin());
            line("target", board.target());
            building(board.building());
            memory();
            line("sources", String.join(", ", board.sources()));
            board.linker().ifPresent(script -> line("linker", script));
            peripherals();
            line("emulator", emulator(board.emulation()));
            line("flash", board.flashing().map(BoardDescription::flash).orElse("none"));
            TreeSet<String> inherited = new TreeSet<>(board.files().keySet());
            TreeSet<String> own = new TreeSet<>(boards.ownFiles(board.id()).keySet());
            inherited.removeAll(own);
            line("files", String.join(", ", own));
            line("inherited", inherited.isEmpty() ? "none" : String.join(", ", inherited));
            return lines;
        }

        private void memory() {
            for (Board.Memory memory : board.memories()) {
                line(
                        "memory",
                        String.format(
                                Locale.ROOT,
                                "%s (%s, %s): 0x%08x to 0x%08x, %d bytes%s",
                                memory.name(),
                                lower(memory.kind()),
                                lower(memory.speed()),
                                memory.base(),
                                memory.end() - 1,
                                memory.size(),
                                memory.targets().isEmpty()
                                        ? ""
                                        : ", reached by " + String.join(", ", memory.targets()) + " only"));
            }
            board.pools()
                    .ifPresent(pools -> line(
                            "pools",
                            "workspace in " + String.join(", ", pools.workspace()) + ", code and constants in "
                                    + String.join(", ", pools.constants())
                                    + pools.moreConstants()
                                            .map(more -> ", more constants in " + more)
                                            .orElse("")
                                    + (pools.parameters().isPresent()
                                            ? String.format(
                                                    Locale.ROOT,
                                                    ", parameters from 0x%08x",
                                                    pools.parameters().getAsLong())
                                            : "")));
        }

        private void peripherals() {
            board.console()
                    .ifPresent(console -> line(
                            "console",
                            console.uart() + ", " + console.baud() + " baud"
                                    + (console.usb().isEmpty() ? "" : ", USB " + String.join(", ", console.usb()))));
            board.npu()
                    .ifPresent(npu -> line(
                            "npu",
                            npu.configuration()
                                    + String.format(Locale.ROOT, " at 0x%08x", npu.base())
                                    + (npu.irq().isPresent()
                                            ? ", interrupt " + npu.irq().getAsInt()
                                            : "")
                                    + (npu.isSecure() ? ", secure" : "")
                                    + (npu.isModel() ? ", a model in its place" : "")));
            board.timer()
                    .ifPresent(timer -> line(
                            "timer",
                            timer.counter() + ", " + timer.hertz() + " Hz"
                                    + (timer.countsCycles() ? ", cycles of the core" : "")));
        }

        private void building(Building building) {
            building.toolchain()
                    .ifPresent(
                            choice -> line("toolchain", choice.toolchain() + (choice.required() ? ", no other" : "")));
            if (!building.compile().isEmpty()) {
                line("compile", String.join(" ", building.compile()));
            }
            if (!building.link().isEmpty()) {
                line("link", String.join(" ", building.link()));
            }
            building.uf2Family().ifPresent(family -> line("uf2", String.format(Locale.ROOT, "family 0x%08x", family)));
        }

        private void line(String key, String value) {
            lines.add(String.format(Locale.ROOT, "%-10s %s", key, value));
        }

        private static String lower(Enum<?> value) {
            return value.name().toLowerCase(Locale.ROOT);
        }

        private static String emulator(Emulation emulation) {
            if (emulation instanceof Emulation.Qemu qemu) {
                String arguments = qemu.args().isEmpty() ? "" : " " + String.join(" ", qemu.args());
                return qemu.program() + " -M " + qemu.machine() + arguments;
            }
            if (emulation instanceof Emulation.StandIn standIn) {
                return "no emulator of its own; " + standIn.board() + " stands in, with the same objects";
            }
            return emulation instanceof Emulation.Native ? "this computer" : "none";
        }

        private static String flash(Flashing flashing) {
            if (flashing instanceof Flashing.Programs programs) {
                return Stream.concat(
                                programs.beside().map(BoardDescription::openOcd).stream(),
                                programs.programs().stream().map(BoardDescription::program))
                        .collect(Collectors.joining("; or "));
            }
            if (flashing instanceof OpenOcd openOcd) {
                return openOcd(openOcd);
            }
            return flashing instanceof Flashing.Service service
                    ? "service " + service.name() + options(service.options())
                    : projectApi((ProjectApi) flashing);
        }

        private static String program(Flashing.Program how) {
            String values = how.values().entrySet().stream()
                    .sorted(Map.Entry.comparingByKey())
                    .map(each -> ", " + each.getKey() + " " + each.getValue())
                    .collect(Collectors.joining());
            return how.definition().id() + " (" + how.definition().title() + values + ")";
        }

        private static String projectApi(ProjectApi how) {
            return "Project API server in " + how.directory() + options(how.options());
        }

        private static String options(Map<String, String> options) {
            return options.entrySet().stream()
                    .sorted(Map.Entry.comparingByKey())
                    .map(option -> ", " + option.getKey() + "=" + option.getValue())
                    .collect(Collectors.joining());
        }

        private static String openOcd(OpenOcd how) {
            List<String> parts = new ArrayList<>();
            parts.add(how.isVirtual() ? "a virtual probe" : how.interfaceConfig());
            parts.add(how.targetConfig());
            how.transport().ifPresent(parts::add);
            if (how.speedKilohertz() > 0) {
                parts.add(how.speedKilohertz() + " kHz");
            }
            how.chipId()
                    .ifPresent(id -> parts.add(String.format(
                            Locale.ROOT, "chip id 0x%08x & 0x%08x = 0x%08x", id.address(), id.mask(), id.value())));
            return "OpenOCD, " + String.join(", ", parts);
        }
    }

    /**
     * Lists boards for people: source, title, memory sizes and what runs their images.
     *
     * @param boards all visible boards
     */
    public record BoardList(Boards boards) {
        private static final long KIB = 1024;

        /** A heading, and one line for each board, including broken and refused ones. */
        public List<String> lines() {
            Table table = new Table("board", "flash", "ram", "runs on", "from", "title");
            for (String id : boards.ids()) {
                try {
                    Board board = boards.find(id);
                    table.row(
                            id,
                            size(board.constants()),
                            size(board.workspace()),
                            runsOn(board),
                            boards.origin(id),
                            board.title());
                } catch (KilnException e) {
                    String what = "cannot be used: kiln:boards -Dkiln.board=" + id + " says why";
                    table.row(id, "-", "-", "-", boards.origin(id), what);
                }
            }
            return table.lines();
        }

        /** The list of boards for programs. */
        public BoardsReport report() {
            return report(boards.ids());
        }

        /**
         * One board for programs.
         *
         * @throws KilnException if there is no such board, or with all of its errors
         */
        public BoardsReport report(String id) {
            return report(List.of(boards.find(id).id()));
        }

        private BoardsReport report(List<String> ids) {
            return new BoardsReport(ids.stream().map(this::entry).toList());
        }

        private Entry entry(String id) {
            try {
                return new Entry(id, boards.origin(id), BoardProfileReport.of(boards.find(id)), null);
            } catch (KilnException e) {
                return new Entry(id, boards.origin(id), null, e.getMessage());
            }
        }

        private static String size(Optional<Board.Memory> memory) {
            return memory.map(m -> m.size() % KIB == 0 ? m.size() / KIB + " KiB" : m.size() + " B")
                    .orElse("-");
        }

        private static String runsOn(Board board) {
            if (board.emulation() instanceof Emulation.Qemu qemu) {
                return qemu.program() + " " + qemu.machine();
            }
            if (board.emulation() instanceof Emulation.StandIn standIn) {
                return "stand-in " + standIn.board();
            }
            return board.emulation() instanceof Emulation.Native ? "this computer" : "-";
        }

        /** Describes a board for programs. */
        static final class BoardProfileReport {
            private static final String NONE = "none";

            private BoardProfileReport() {}

            static Profile of(Board board) {
                return new Profile(
                        board.title(),
                        board.target(),
                        !board.foreign(),
                        board.memories().stream()
                                .map(memory -> new Memory(
                                        memory.name(),
                                        memory.kind().name().toLowerCase(Locale.ROOT),
                                        memory.base(),
                                        memory.size(),
                                        memory.targets()))
                                .toList(),
                        board.pools().map(PoolMemories::workspace).orElse(List.of()),
                        board.pools().map(PoolMemories::constants).orElse(List.of()),
                        board.console()
                                .map(console -> new Console(console.uart(), console.baud(), console.usb()))
                                .orElse(null),
                        board.timer()
                                .map(timer -> new Timer(timer.counter(), timer.hertz(), timer.countsCycles()))
                                .orElse(null),
                        emulator(board.emulation()),
                        board.flashing().map(BoardProfileReport::flash).orElse(NONE));
            }

            private static Emulator emulator(Emulation emulation) {
                if (emulation instanceof Emulation.Qemu qemu) {
                    return new Emulator("qemu", qemu.program() + " " + qemu.machine());
                }
                if (emulation instanceof Emulation.StandIn standIn) {
                    return new Emulator("standIn", standIn.board());
                }
                return new Emulator(emulation instanceof Emulation.Native ? "native" : NONE, "");
            }

            private static String flash(Flashing flashing) {
                if (flashing instanceof Flashing.OpenOcd openOcd) {
                    return openOcd.isVirtual() ? "virtual" : "openocd";
                }
                if (flashing instanceof Flashing.Service) {
                    return "service";
                }
                return flashing instanceof Flashing.Programs programs
                        ? programs.beside()
                                .map(BoardProfileReport::flash)
                                .orElse(programs.programs().get(0).definition().id())
                        : "project-api";
            }
        }
    }

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
            log.info("What the pack does not tell, " + board.questions().size()
                    + " questions, stands at the beginning of " + DESCRIPTOR + ". Then: -Dkiln.board=" + named);
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
            Matcher line =
                    Pattern.compile("^" + key + ":.*$", Pattern.MULTILINE).matcher(descriptor);
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
}
