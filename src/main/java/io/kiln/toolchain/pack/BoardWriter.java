// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.ResourceTree;
import io.kiln.base.TextTemplate;
import io.kiln.toolchain.pack.Device.Vectors;
import io.kiln.toolchain.pack.MemoryPlan.Region;
import io.kiln.toolchain.pack.Packs.DeviceBoard;
import io.kiln.toolchain.pack.Packs.Pack;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes the profile of one core of a device. All that comes from the pack is a number, or is checked letter by letter. */
final class BoardWriter {
    /** Folder of the templates, and of the tables of families. */
    private static final String FOLDER = "pack";

    private static final Pattern MACRO = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}(=[A-Za-z0-9_.+-]{0,80})?");

    private static final int MOST_TITLE = 80;
    private static final int LINE = 130;
    private static final int ST = 13;
    private static final int CORE_VECTORS = 16;
    private static final long SMALLEST_TABLE = 256;

    /** Vendors whose kits have a J-Link: Nordic Semiconductor, Silicon Labs. */
    private static final List<Integer> WITH_JLINK = List.of(54, 21);

    private final SortedMap<String, Bytes> templates = ResourceTree.read(FOLDER);
    private final Pack pack;
    private final Device device;
    private final String core;
    private final DeviceBoard.Request request;
    private final CoreTarget target;
    private final MemoryPlan plan;
    private final List<String> questions = new ArrayList<>();

    BoardWriter(Pack pack, Device device, String core, DeviceBoard.Request request) {
        this.pack = pack;
        this.device = device;
        this.core = core;
        this.request = request;
        this.target = CoreTarget.of(device.processors().get(core), device.name());
        this.plan = new MemoryPlanner(device, core, target, request.offset()).plan();
    }

    DeviceBoard write(String id) {
        SortedMap<String, Bytes> files = new TreeMap<>();
        Optional<FlashLayout> layout = layout();
        LinkerText linker = new LinkerText(
                templates, plan, device.name(), pack.description().id());
        files.put("memory.ld", Bytes.ofText(linker.plain()));
        String sectors = layout.map(each -> new SectorPlan(plan, each))
                .map(each -> each.write(linker, files))
                .orElse("");
        Optional<Vectors> vectors = Vectors.of(pack, device, core);
        checkOffset(vectors);
        vectors.ifPresent(each -> files.put("interrupts.txt", Bytes.ofText(interrupts(each))));
        if (request.isWhole()) {
            files.put("kiln_board.h", Bytes.ofText(header()));
        }
        Optional<Bytes> svd = device.svdOf(core).flatMap(path -> pack.files().read(path));
        svd.filter(content -> content.size() <= DeviceBoard.MOST_SVD)
                .ifPresent(content -> files.put(DeviceBoard.SVD, content));
        ask(layout, vectors, svd);
        files.put("board.yaml", Bytes.ofText(descriptor(id, sectors)));
        return new DeviceBoard(files, device.name(), most(), questions);
    }

    /** VTOR (Arm's architecture reference manuals) takes multiples of the table's size, which counts as a power of two and as 256 at least. */
    private void checkOffset(Optional<Vectors> vectors) {
        int entries = CORE_VECTORS
                + vectors.map(each -> each.handlers().lastKey() + 1).orElse(0);
        long aligned = Math.max(SMALLEST_TABLE, Integer.highestOneBit(entries * Integer.BYTES - 1) * 2L);
        if (request.offset() % aligned != 0) {
            throw Failure.BOARD.exception(
                    "the core cannot be told that its vectors lie at the offset " + request.offset(),
                    "device.offset",
                    "a multiple of " + aligned);
        }
    }

    private OptionalLong most() {
        String clock = device.processors().get(core).getOrDefault("Dclock", "");
        return clock.matches("[1-9][0-9]{0,9}") ? OptionalLong.of(Long.parseLong(clock)) : OptionalLong.empty();
    }

    private OptionalLong hertz() {
        return target.isSmall() ? OptionalLong.empty() : request.hertz().isPresent() ? request.hertz() : most();
    }

    /** The sectors of the memory of code. */
    private Optional<FlashLayout> layout() {
        long base = plan.region(plan.code()).base();
        Optional<FlashLayout> said = device.flash().infos().stream()
                .filter(info -> Device.isFor(info.text("Pname"), core))
                .flatMap(info -> FlashLayout.ofInfo(info).stream())
                .filter(layout -> layout.covers(base))
                .findFirst();
        return said.or(() -> device.flash().algorithms().stream()
                .filter(each -> Device.isFor(each.text("Pname"), core) && each.flag("default"))
                .flatMap(each -> each.path("name").stream())
                .filter(path -> path.toLowerCase(Locale.ROOT).endsWith(".flm"))
                .flatMap(path -> pack.files().read(path).flatMap(file -> FlashLayout.ofAlgorithm(path, file)).stream())
                .filter(layout -> layout.covers(base))
                .findFirst());
    }

    private void ask(Optional<FlashLayout> layout, Optional<Vectors> vectors, Optional<Bytes> svd) {
        questions.addAll(ofFamily("questions.txt"));
        questions.addAll(plan.questions());
        if (request.isWhole()) {
            questions.add(
                    hertz().isPresent()
                            ? "Clock: " + hertz().getAsLong()
                                    + " Hz is the most that the device takes, if timer says no other; without code of"
                                    + " yours it runs at the clock after reset. Give timer.hertz and KILN_CORE_CLOCK"
                                    + " of kiln_board.h the clock that it has."
                            : "Clock: the board has no timer. A counter in kiln_counter.h and the key timer give it"
                                    + " one.");
            questions.add(
                    "Console: a debug probe reads it in RAM (RTT). Which UART and pins? Write a console.c and the key"
                            + " console.");
        }
        questions.add("Wait states: how long does flash make the core wait? The key wait of each memory says it.");
        if (layout.isEmpty()) {
            questions.add(
                    "Sectors of the flash: unknown without a flash algorithm's file, so there are no pools.parameters"
                            + " and no pools.slots.");
        }
        if (vectors.isEmpty()) {
            questions.add(
                    "Interrupts: the pack's file of them is missing; interrupts.txt names their handlers in the order"
                            + " of their numbers.");
        }
        if (svd.filter(content -> content.size() > DeviceBoard.MOST_SVD).isPresent()) {
            questions.add(
                    "Debugger: the description of the peripherals is too large for a board's folder; give the debugger"
                            + " that of the pack, "
                            + printable(device.svdOf(core).orElse("")) + ".");
        }
        if (openOcd().isEmpty() && profile().isEmpty()) {
            questions.add("Flashing: OpenOCD 0.12 has no script for this family. Which program flashes it?");
        }
        if (!target.isSame()) {
            questions.add(
                    "The stand-in has another core, which runs this one's instructions: it hides accesses that this"
                            + " one cannot do, such as to words at odd addresses.");
        }
        if (device.processors().size() > 1) {
            questions.add("The other cores ("
                    + device.processors().keySet().stream()
                            .filter(each -> !each.equals(core))
                            .map(BoardWriter::printable)
                            .collect(Collectors.joining(", "))
                    + ") are started by firmware of yours; device.name ends in :CORE for a board of another one.");
        }
    }

    private String interrupts(Vectors vectors) {
        return "# SPDX-License-Identifier: Apache-2.0\n# Handlers in the order of the interrupts' numbers, from 0: "
                + printable(pack.description().id() + ", " + vectors.source()) + "\n"
                + String.join("\n", vectors.lines()) + "\n";
    }

    private String header() {
        String clock =
                hertz().isPresent() ? filled("clock.h", Map.of("HERTZ", String.valueOf(hertz().getAsLong()))) : "";
        return filled(
                "kiln_board.h",
                Map.of(
                        "DEVICE",
                        printable(device.name()),
                        "PACK",
                        printable(pack.description().id()),
                        "CLOCK",
                        clock));
    }

    private String descriptor(String id, String sectors) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("DEVICE", printable(device.name()));
        values.put("PACK", printable(pack.description().id()));
        values.put("QUESTIONS", questions.stream().map(BoardWriter::comment).collect(Collectors.joining("\n")));
        values.put("ID", id);
        values.put("TITLE", quoted(title()));
        values.put(
                "VENDOR",
                quoted(device.vendor().isBlank() ? "unknown" : device.vendor().replaceFirst(":.*", "")));
        values.put("EXTENDS", request.isWhole() ? "extends: " + profile().orElse("device") + "\n" : "");
        values.put("MCPU", target.mcpu());
        values.put("MODEL", device.name().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_.-]", "-"));
        values.put("MEMORIES", plan.regions().stream().map(BoardWriter::memory).collect(Collectors.joining()));
        values.put("WORKSPACE", pool(plan.workspace()));
        values.put("CONSTANTS", pool(plan.constants()));
        values.put("SECTORS", sectors);
        values.put("TIMER", timer());
        values.put("STANDIN", target.standIn());
        values.put("FLASH", openOcd().map(this::flash).orElse(""));
        values.put("FLAGS", flags());
        return filled("board.yaml", values).stripTrailing() + "\n";
    }

    private String title() {
        Region data = plan.region(plan.data());
        Region code = plan.region(plan.code());
        return device.name() + (core.isEmpty() ? "" : " " + core) + " ("
                + device.processors().get(core).getOrDefault("Dcore", "") + ", " + BoardText.size(code.size())
                + " of flash, " + BoardText.size(data.size()) + " of RAM)";
    }

    private String timer() {
        return request.isWhole() && hertz().isPresent()
                ? "timer: {counter: DWT cycles, hertz: " + hertz().getAsLong() + ", cycles: true}\n"
                : "";
    }

    private static String pool(List<String> names) {
        return names.size() == 1 ? names.get(0) : "[" + String.join(", ", names) + "]";
    }

    private static String memory(Region region) {
        return String.format(
                Locale.ROOT,
                "  - {name: %s, kind: %s, base: 0x%08x, size: %s%s%s}\n",
                region.name(),
                region.isRom() ? "rom" : "ram",
                region.base(),
                BoardText.size(region.size()),
                region.speed().equals(Region.NORMAL) ? "" : ", speed: " + region.speed(),
                region.isFetched() ? ", fetch: system-bus" : "");
    }

    private Optional<String> openOcd() {
        return ofFamily("openocd.txt").stream().findFirst().filter(script -> !script.equals("-"));
    }

    private Optional<String> profile() {
        return ofFamily("profiles.txt").stream().findFirst();
    }

    /** What Kiln's tables say of the device: a pattern of the beginnings of names, and a text, in each line. */
    private List<String> ofFamily(String table) {
        String name = device.name().toUpperCase(Locale.ROOT);
        return templates
                .get(table)
                .text()
                .lines()
                .filter(line -> !line.startsWith("#") && line.indexOf(' ') > 0)
                .filter(line -> Pattern.compile(line.substring(0, line.indexOf(' ')))
                        .matcher(name)
                        .lookingAt())
                .map(line -> line.substring(line.indexOf(' ') + 1))
                .toList();
    }

    private String flash(String script) {
        int vendor = device.vendor().matches(".*:[0-9]{1,4}")
                ? Integer.parseInt(device.vendor().substring(device.vendor().lastIndexOf(':') + 1))
                : 0;
        boolean isDirect = script.matches("stm32(u5|l5)x\\.cfg") || (vendor == ST && core.equals("CM4"));
        String probe = vendor == ST
                ? isDirect ? "interface/stlink-dap.cfg" : "interface/stlink.cfg"
                : WITH_JLINK.contains(vendor) ? "interface/jlink.cfg" : "interface/cmsis-dap.cfg";
        String transport = vendor == ST ? isDirect ? "dapdirect_swd" : "hla_swd" : "swd";
        return "flash:\n  openocd: {interface: " + probe + ", target: target/" + script + ", transport: " + transport
                + "}\n";
    }

    private String flags() {
        Map<String, String> macros = new LinkedHashMap<>();
        if (request.offset() > 0 && !target.mcpu().equals("cortex-m0")) {
            macros.put("KILN_SET_VECTORS", "1");
        }
        device.papers().defines().stream()
                .filter(each -> Device.isFor(each.core(), core)
                        && MACRO.matcher(each.text()).matches())
                .map(each -> each.text().split("=", 2))
                .forEach(parts -> macros.putIfAbsent(parts[0], parts.length > 1 ? parts[1] : ""));
        return macros.isEmpty()
                ? ""
                : macros.entrySet().stream()
                        .map(macro -> macro.getKey() + ": \"" + macro.getValue() + "\"")
                        .collect(Collectors.joining(", ", "flags:\n  defines: {", "}\n"));
    }

    private String filled(String template, Map<String, String> values) {
        return TextTemplate.filled(templates.get(template).text(), values);
    }

    private static String quoted(String text) {
        return "\"" + printable(text) + "\"";
    }

    /** Letters that end neither a comment nor a quoted text. */
    static String printable(String text) {
        String plain = text.replaceAll("[^ -~]|[\"\\\\]|\\*/", "?");
        return plain.substring(0, Math.min(plain.length(), MOST_TITLE));
    }

    /** A question as a list's item in comments, in lines of bearable length. */
    private static String comment(String question) {
        StringBuilder lines = new StringBuilder("# *");
        int length = lines.length();
        for (String word : question.replaceAll("[^ -~×]", "?").split(" ", -1)) {
            if (length + word.length() >= LINE) {
                lines.append("\n#  ");
                length = 3;
            }
            lines.append(' ').append(word);
            length += word.length() + 1;
        }
        return lines.toString();
    }

    /** Gives the upper half of the flash to what is flashed by itself, in whole sectors: parameters, or models in slots. */
    private record SectorPlan(MemoryPlan plan, FlashLayout layout) {
        /** Bytes before the first slot, in which a firmware describes itself. */
        private static final long DESCRIPTION = 256;

        /** Less code and fewer bytes of a model make no firmware. */
        private static final long LEAST = 8L << 10;

        /** Adds the linker scripts; returns the keys of {@code pools}, with their line ends. */
        String write(LinkerText linker, SortedMap<String, Bytes> files) {
            Region code = plan.region(plan.code());
            String lines = "  # Sectors of the flash: " + layout.text() + "\n";
            OptionalLong upper = layout.sectorFrom(code.base() + code.size() / 2, code.end());
            if (upper.isEmpty() || upper.getAsLong() - code.base() < LEAST) {
                return lines;
            }
            long first = upper.getAsLong();
            files.put("memory.parameters.ld", Bytes.ofText(linker.parameters(first)));
            lines += String.format(Locale.ROOT, "  parameters: 0x%08x\n", first);
            OptionalLong second = layout.sectorFrom(first + (code.end() - first) / 2, code.end());
            if (second.isEmpty()) {
                return lines;
            }
            long bytes = Math.min(second.getAsLong() - first, code.end() - second.getAsLong());
            Region data = plan.region(plan.data());
            long half = data.size() / 2 / LEAST * LEAST;
            if (bytes < LEAST
                    || half < LEAST
                    || !isEnd(first + bytes, code)
                    || !isEnd(second.getAsLong() + bytes, code)) {
                return lines;
            }
            files.put("memory.slots.ld", Bytes.ofText(linker.slots(first, bytes, DESCRIPTION, half)));
            return lines
                    + String.format(
                            Locale.ROOT,
                            "  slots: {first: 0x%08x, second: 0x%08x, size: %s, memory: 0x%08x}\n",
                            first,
                            second.getAsLong(),
                            BoardText.size(bytes),
                            data.base() + half);
        }

        /** Whether a sector ends there. */
        private boolean isEnd(long address, Region code) {
            return address == code.end()
                    || layout.sectorFrom(address, Long.MAX_VALUE).equals(OptionalLong.of(address));
        }
    }

    /**
     * The linker scripts of a device.
     *
     * @param templates by name
     * @param device its name
     * @param pack the name of its pack
     */
    private record LinkerText(SortedMap<String, Bytes> templates, MemoryPlan plan, String device, String pack) {
        private static final String CODE = "CODE";
        private static final String DATA = "DATA";

        /** That of most images. */
        String plain() {
            return script(
                    "",
                    regions(
                            plan.region(plan.code()).size(),
                            plan.region(plan.data()).size(),
                            ""),
                    "");
        }

        /** That of images whose parameters lie from an address on. */
        String parameters(long address) {
            Region code = plan.region(plan.code());
            String own = region("PARAMETERS", "r", address, code.end() - address);
            return script(
                    "\n * In place of memory.ld for images whose parameters are flashed by themselves.",
                    regions(address - code.base(), plan.region(plan.data()).size(), own),
                    templates.get("parameters.ld").text());
        }

        /** That of images whose models are replaced in the field. */
        String slots(long first, long bytes, long description, long dataBytes) {
            Region code = plan.region(plan.code());
            String own = region("FIRMWARE", "r", first - description, description) + region("SLOT", "rx", first, bytes);
            return script(
                    "\n"
                            + " * In place of memory.ld for images whose models are replaced in the field. What the"
                            + " firmware is lies before the first slot.",
                    regions(first - description - code.base(), dataBytes, own),
                    templates.get("slots.ld").text());
        }

        private String regions(long codeBytes, long dataBytes, String more) {
            Region code = plan.region(plan.code());
            Region data = plan.region(plan.data());
            StringBuilder regions = new StringBuilder(region(CODE, "rx", code.base(), codeBytes)).append(more);
            regions.append(region(DATA, "rw", data.base(), dataBytes));
            plan.regions().stream()
                    .filter(each -> !each.equals(code) && !each.equals(data))
                    .forEach(each ->
                            regions.append(region(name(each), each.isRom() ? "rx" : "rw", each.base(), each.size())));
            return regions.toString();
        }

        private static String region(String name, String access, long base, long size) {
            return String.format(
                    Locale.ROOT,
                    "  %s (%s) : ORIGIN = 0x%08x, LENGTH = %s\n",
                    name,
                    access,
                    base,
                    BoardText.size(size));
        }

        private static String name(Region region) {
            return "MEMORY_" + region.name().toUpperCase(Locale.ROOT);
        }

        private String script(String purpose, String regions, String more) {
            StringBuilder sections = new StringBuilder(more);
            plan.regions().stream()
                    .filter(each ->
                            !each.name().equals(plan.code()) && !each.name().equals(plan.data()))
                    .forEach(each -> sections.append(TextTemplate.filled(
                            templates
                                    .get(each.isRom() ? "constants.ld" : "workspace.ld")
                                    .text(),
                            Map.of("NAME", each.name(), "REGION", name(each)))));
            Map<String, String> values = new LinkedHashMap<>();
            values.put("DEVICE", BoardWriter.printable(device));
            values.put("PACK", BoardWriter.printable(pack));
            values.put("PURPOSE", purpose);
            values.put(
                    "GUARD",
                    plan.isNothingBelow() ? "PROVIDE(__stack_guard_below = 0x1000000); /* below DATA */\n\n" : "");
            values.put("REGIONS", regions);
            values.put("SECTIONS", sections.toString());
            return TextTemplate.filled(templates.get("memory.ld").text(), values);
        }
    }
}
