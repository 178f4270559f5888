// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.ByteSize;
import io.kiln.base.Bytes;
import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import io.kiln.cycles.core.CycleRange;
import io.kiln.cycles.memory.MemoryWait;
import io.kiln.cycles.memory.MemoryWait.Cache;
import io.kiln.cycles.memory.MemoryWait.DataCache;
import io.kiln.toolchain.board.Board.AlternativeWait;
import io.kiln.toolchain.board.Board.BoardHardware;
import io.kiln.toolchain.board.Board.BoardIdentity;
import io.kiln.toolchain.board.Board.BoardMemories;
import io.kiln.toolchain.board.Board.BoardTimer;
import io.kiln.toolchain.board.Board.CodeFetch;
import io.kiln.toolchain.board.Board.Console;
import io.kiln.toolchain.board.Board.Kind;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.BoardFiles.MergedProfile;
import io.kiln.toolchain.board.BoardNpu.NpuParser;
import io.kiln.toolchain.board.Building.CompilerFlags;
import io.kiln.toolchain.board.Building.NamedToolchain;
import io.kiln.toolchain.board.ClockFamily.ClockParser;
import io.kiln.toolchain.board.ClockFamily.ClockParser.Clock;
import io.kiln.toolchain.board.LinkerMemories.LinkerCheck;
import io.kiln.toolchain.board.LinkerMemories.LinkerVariant;
import io.kiln.toolchain.board.PoolsParser.MemoryTargets;
import io.kiln.toolchain.compiler.TargetOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;

/** Makes a board from merged settings that satisfy the schema, and checks what a schema cannot. */
record BoardParser(MergedProfile profile, Problems problems) {
    /** The header that is made from the profile. */
    static final String SETTINGS = "kiln_settings.h";

    private static final long ADDRESS_SPACE = 1L << 32;

    private static final String GRAMMAR = ", then -name=value of " + TargetText.LETTERS;

    /** The board; valid only if no problem was added. */
    Board parse() {
        Clock clock = new ClockParser(profile, problems).read();
        List<Memory> memories = memories(clock);
        Optional<PoolMemories> pools = pools(memories);
        pools.ifPresent(each -> checkWaits(each, memories, clock));
        Emulation emulation = emulation();
        Optional<BoardNpu> npu = new NpuParser(profile, problems).npu(memories);
        List<String> sources = texts("sources");
        for (int i = 0; i < sources.size(); i++) {
            checkFile(sources.get(i), "/sources/" + i);
        }
        Optional<String> linker = profile.find("linker").map(JsonNode::asText);
        linker.ifPresent(file -> checkFile(file, "/linker"));
        require("title", "target", "sources");
        List<String> parts = TargetText.parts(text("target"));
        String target = parts.get(parts.size() - 1);
        parts.forEach(this::checkLetters);
        checkTarget(target);
        checkCore(target, emulation);
        if (!(emulation instanceof Emulation.Native)) {
            require("memories", "pools", "linker", "console");
        }
        return new Board(
                identity(),
                target,
                new BoardMemories(memories, pools),
                new BoardSupport(
                        sources,
                        linker,
                        files(memories, pools, linker, clock),
                        profile.untrusted(),
                        profile.foreignFiles(),
                        profile.pack().map(MergedProfile.Layer.Pack::place)),
                new BoardHardware(
                        console(), timer(clock), emulation, new FlashParser(profile, problems).flashing(), npu),
                new BuildingParser(profile, problems).parse(npu));
    }

    /** The profile's files, and those that are made from it unless it has its own. */
    private SortedMap<String, Bytes> files(
            List<Memory> memories, Optional<PoolMemories> pools, Optional<String> linker, Clock clock) {
        SortedMap<String, Bytes> files = profile.files();
        files.putIfAbsent(SETTINGS, Bytes.ofText(settings(clock)));
        pools.ifPresent(each -> {
            LinkerMemories made = new LinkerMemories(memories, each);
            made.files().forEach((name, content) -> files.putIfAbsent(name, content));
            linker.ifPresent(script -> new LinkerCheck(profile, problems, made, each, files).check(script));
        });
        return files;
    }

    private BoardIdentity identity() {
        return new BoardIdentity(
                profile.id(),
                text("title"),
                new BoardIdentity.Maker(
                        profile.find("vendor").map(JsonNode::asText),
                        profile.find("url").map(JsonNode::asText)),
                profile.origin());
    }

    /** A header of the numbers that C and the profile share. */
    private String settings(Clock clock) {
        StringBuilder out = new StringBuilder(
                "/* Made from board.yaml. */\n#ifndef KILN_SETTINGS_H_\n#define KILN_SETTINGS_H_\n\n");
        profile.find("console")
                .ifPresent(console -> out.append("#define KILN_BAUD ")
                        .append(console.path("baud").asInt())
                        .append("u\n"));
        clock.macros().forEach(macro -> out.append("#define ").append(macro).append('\n'));
        return out.append("\n#endif\n").toString();
    }

    /** A timer that counts cycles has the frequency of the clock. */
    private Optional<BoardTimer> timer(Clock clock) {
        return profile.find("timer").map(node -> {
            boolean cycles = node.path("cycles").asBoolean(false);
            OptionalLong core = cycles ? clock.hertz() : OptionalLong.empty();
            long hertz = node.path("hertz").asLong(core.orElse(0));
            if (hertz == 0) {
                problems.add(
                        "the key \"hertz\" of the timer is missing",
                        profile.where("/timer"),
                        "ticks of a second; only a timer with cycles: true takes them from clock");
            } else if (core.isPresent() && core.getAsLong() != hertz) {
                problems.add(
                        "the timer counts cycles at " + hertz + " Hz, and the clock of the core is " + core.getAsLong(),
                        profile.where("/timer"),
                        "one frequency",
                        "Leave the key hertz of the timer out");
            }
            return new BoardTimer(node.get("counter").asText(), hertz, cycles);
        });
    }

    /** The start-up code sets the wait states of the memory that holds the code, so that a profile cannot state others. */
    private void checkWaits(PoolMemories pools, List<Memory> memories, Clock clock) {
        for (int i = 0; i < memories.size(); i++) {
            Memory memory = memories.get(i);
            int stated = memory.waits().map(MemoryWait::states).orElse(-1);
            int set = clock.tree().isPresent() ? clock.waitStates().orElse(stated) : stated;
            if (memory.name().equals(pools.code()) && memory.kind() == Kind.ROM && stated >= 0 && stated != set) {
                problems.add(
                        "memory " + memory.name() + " has " + stated + " wait states, and the clock of the board needs "
                                + set,
                        profile.where("/memories/" + i + "/wait/states"),
                        "" + set,
                        "Leave the key states out: it follows from clock");
            }
        }
    }

    /** Targets are printed into C, archives and reports. The schema has this grammar too, but this check is authoritative. */
    private void checkTarget(String target) {
        boolean isOfHost = target.isEmpty() || TargetText.HOST_KINDS.contains(TargetText.kind(target));
        if (!isOfHost) {
            problems.add(
                    "the target is not of kind " + TargetText.HOSTS,
                    profile.where("/target"),
                    TargetText.HOSTS + GRAMMAR);
        }
    }

    private void checkLetters(String part) {
        if (TargetText.wrongLetter(part).isPresent()) {
            problems.add(
                    "the target has characters that are not allowed",
                    profile.where("/target"),
                    TargetText.HOSTS + GRAMMAR);
        }
    }

    /** Code for no particular core is compiled by this computer's own compiler, for the board {@code host}. */
    private void checkCore(String target, Emulation emulation) {
        boolean isHost = emulation instanceof Emulation.Native;
        if (!target.isEmpty() && TargetOptions.parse(target).isHost() != isHost) {
            problems.add(
                    isHost
                            ? "the target names a core, and the board is this computer"
                            : "the target names no core, and the board is not this computer",
                    profile.where("/target"),
                    isHost ? "a target without -mcpu and -march" : "-mcpu or -march in it");
        }
    }

    private void require(String... keys) {
        for (String key : keys) {
            if (profile.find(key).isEmpty()) {
                problems.add("the key \"" + key + "\" is missing", profile.where(""), "a value for it");
            }
        }
    }

    private List<Memory> memories(Clock clock) {
        List<Memory> memories = new ArrayList<>();
        WaitParser waits = new WaitParser(profile, problems, clock.waitStates());
        JsonNode array = profile.find("memories").orElse(null);
        MemoryTargets targets = new MemoryTargets(profile, problems);
        for (int i = 0; array != null && i < array.size(); i++) {
            JsonNode node = array.get(i);
            String pointer = "/memories/" + i;
            Kind kind = node.get("kind").asText().equals("rom") ? Kind.ROM : Kind.RAM;
            Memory memory = new Memory(
                    node.get("name").asText(),
                    kind,
                    node.get("base").asLong(),
                    size(node.get("size")),
                    new Board.Timing(
                            Board.Speed.valueOf(
                                    node.path("speed").asText("normal").toUpperCase(Locale.ROOT)),
                            waits.read(node.path("wait"), pointer + "/wait"),
                            waits.alternatives(node.path("alternatives"), pointer + "/alternatives")),
                    new Board.Wiring(
                            waits.fetch(node.path("fetch"), kind, pointer + "/fetch"),
                            Optional.ofNullable(node.get("mirrors")).map(JsonNode::asText),
                            targets.read(node, pointer)));
            check(memory, memories, profile.where(pointer));
            memories.add(memory);
        }
        checkMirrors(memories);
        return memories;
    }

    private void check(Memory memory, List<Memory> before, String where) {
        if (memory.end() > ADDRESS_SPACE) {
            problems.add(
                    "memory " + memory.name() + " ends beyond the last address",
                    where,
                    "base + size of at most 0x100000000");
        }
        for (Memory other : before) {
            if (other.name().equals(memory.name())) {
                problems.add("the memory " + memory.name() + " exists twice", where, "unique names");
            } else if (memory.base() < other.end() && other.base() < memory.end()) {
                problems.add(
                        "memory " + memory.name() + " " + range(memory) + " overlaps " + other.name() + " "
                                + range(other),
                        where,
                        "memories that do not overlap");
            }
        }
    }

    private void checkMirrors(List<Memory> memories) {
        for (int i = 0; i < memories.size(); i++) {
            Memory mirror = memories.get(i);
            Optional<String> of = mirror.mirrors();
            if (of.isPresent()
                    && memories.stream()
                            .noneMatch(m -> m.name().equals(of.get())
                                    && m.mirrors().isEmpty()
                                    && m.kind() == mirror.kind()
                                    && m.size() >= mirror.size())) {
                problems.add(
                        "memory " + mirror.name() + " mirrors " + of.get() + ", which it cannot",
                        profile.where("/memories/" + i + "/mirrors"),
                        "another memory of its kind, at least as large, with bytes of its own");
            }
        }
    }

    private static String range(Memory memory) {
        return String.format(Locale.ROOT, "(0x%08x to 0x%08x)", memory.base(), memory.end() - 1);
    }

    static long size(JsonNode node) {
        return ByteSize.parse(node.asText()).orElseThrow();
    }

    private Optional<PoolMemories> pools(List<Memory> memories) {
        Optional<PoolMemories> pools =
                profile.find("pools").map(node -> new PoolsParser(profile, problems, memories).read(node));
        pools.flatMap(PoolMemories::moreConstants)
                .ifPresent(name -> checkScript(LinkerVariant.MORE, "/pools/moreConstants"));
        pools.filter(each -> each.parameters().isPresent())
                .ifPresent(each -> checkScript(LinkerVariant.PARAMETERS, "/pools/parameters"));
        pools.filter(each -> each.slots().isPresent())
                .ifPresent(each -> checkScript(LinkerVariant.SLOTS, "/pools/slots"));
        return pools;
    }

    private void checkScript(LinkerVariant variant, String pointer) {
        checkFile(variant.of(text("linker")), pointer);
    }

    private void checkFile(String file, String pointer) {
        if (file.startsWith("/")
                || file.contains("\\")
                || file.contains(":")
                || List.of(file.split("/")).contains("..")) {
            problems.add(
                    "the path " + file + " leaves the profile's folder", profile.where(pointer), "a relative path");
        } else if (!profile.files().containsKey(file)) {
            problems.add(
                    "the file " + file + " is missing",
                    profile.where(pointer),
                    "it beside board.yaml, or in the profile that this one extends");
        } else {
            Bytes content = profile.files().get(file);
            if (content.size() == 0) {
                problems.add("the file " + file + " is empty", profile.where(pointer));
            }
        }
    }

    private Optional<Console> console() {
        return profile.find("console").map(node -> {
            for (String key : List.of("uart", "baud")) {
                if (!node.has(key)) {
                    problems.add("the key \"" + key + "\" of the console is missing", profile.where("/console"));
                }
            }
            List<String> usb = new ArrayList<>();
            node.path("usb").forEach(id -> usb.add(id.asText()));
            return new Console(node.path("uart").asText(), node.path("baud").asInt(), usb);
        });
    }

    private Emulation emulation() {
        Optional<JsonNode> found = profile.find("emulator");
        if (found.isEmpty()) {
            return new Emulation.None();
        }
        JsonNode node = found.get();
        if ((node.has("qemu") ? 1 : 0) + (node.has("standIn") ? 1 : 0) + (node.has("native") ? 1 : 0) != 1) {
            problems.add(
                    "the emulator is ambiguous",
                    profile.where("/emulator"),
                    "either qemu and machine, or standIn, or native");
        }
        if (node.has("native")) {
            return new Emulation.Native();
        }
        if (node.has("standIn")) {
            return new Emulation.StandIn(node.get("standIn").asText());
        }
        List<String> args = new ArrayList<>();
        node.path("args").forEach(arg -> args.add(arg.asText()));
        return new Emulation.Qemu(
                node.path("qemu").asText(), node.path("machine").asText(), args);
    }

    private String text(String key) {
        return profile.find(key).map(JsonNode::asText).orElse("");
    }

    private List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        profile.find(key).ifPresent(array -> array.forEach(item -> texts.add(item.asText())));
        return texts;
    }

    /** Reads the keys {@code toolchain}, {@code flags} and {@code uf2} of a profile that satisfies the schema. */
    private record BuildingParser(MergedProfile profile, Problems problems) {
        Building parse(Optional<BoardNpu> npu) {
            Optional<JsonNode> flags = profile.find("flags");
            List<String> compile = new ArrayList<>();
            List<String> link = new ArrayList<>();
            flags.ifPresent(node -> {
                for (Map.Entry<String, JsonNode> macro : node.path("defines").properties()) {
                    String value = macro.getValue().asText();
                    compile.add("-D" + macro.getKey() + (value.isEmpty() ? "" : "=" + value));
                }
                for (int i = 0; i < node.path("compile").size(); i++) {
                    String flag = node.path("compile").get(i).asText();
                    check(flag, profile.where("/flags/compile/" + i));
                    compile.add(flag);
                }
                for (Map.Entry<String, JsonNode> symbol : node.path("symbols").properties()) {
                    link.add(String.format(
                            Locale.ROOT, "-Wl,--defsym=%s=0x%x", symbol.getKey(), BoardParser.size(symbol.getValue())));
                }
            });
            return new Building(toolchain(), compile, link, codegens(npu), uf2Family());
        }

        private OptionalLong uf2Family() {
            return profile.find("uf2")
                    .map(node -> OptionalLong.of(node.get("family").asLong()))
                    .orElse(OptionalLong.empty());
        }

        /** The code generators before the host's part of the target, and that of the NPU. */
        private List<String> codegens(Optional<BoardNpu> npu) {
            List<String> parts = TargetText.parts(
                    profile.find("target").map(JsonNode::asText).orElse(""));
            List<String> codegens = new ArrayList<>(parts.subList(0, parts.size() - 1));
            npu.ifPresent(own -> codegens.add(own.target()));
            return codegens;
        }

        private void check(String flag, String where) {
            CompilerFlags.refusal(flag)
                    .ifPresent(refusal -> problems.add(
                            "the compiler flag " + CompilerFlags.printable(flag) + " is refused: " + refusal.why(),
                            where,
                            CompilerFlags.ALLOWED,
                            refusal.remedy()));
            boolean isFolder =
                    flag.startsWith("-I") && CompilerFlags.refusal(flag).isEmpty();
            String folder = flag.substring(Math.min(2, flag.length())) + "/";
            if (isFolder && profile.files().keySet().stream().noneMatch(file -> file.startsWith(folder))) {
                problems.add("the folder " + folder + " does not exist", where, "a folder beside board.yaml");
            }
        }

        private Optional<NamedToolchain> toolchain() {
            return profile.find("toolchain").map(node -> {
                boolean required = node.isObject();
                String name = required ? node.path("require").asText() : node.asText();
                return new NamedToolchain(name, required, profile.where("/toolchain"));
            });
        }
    }

    /**
     * Reads how long a memory makes the core wait, and checks what a schema cannot.
     *
     * @param ofClock wait states that follow from the clock, for memories that state none
     */
    record WaitParser(MergedProfile profile, Problems problems, OptionalInt ofClock) {
        /** The key {@code wait} of a memory. */
        Optional<MemoryWait> read(JsonNode node, String pointer) {
            if (!node.isObject()) {
                return Optional.empty();
            }
            if (!node.has("states") && ofClock.isEmpty()) {
                add(
                        "the key \"states\" is missing",
                        pointer,
                        "a number, or for the memory itself a clock with a family");
            }
            int lineBytes = node.get("lineBytes").asInt();
            Optional<Cache> fetch = cache(node.path("fetch"), pointer + "/fetch");
            Optional<CycleRange> miss = range(node.path("missCycles"), pointer + "/missCycles");
            MemoryWait wait = new MemoryWait(
                    node.path("states").asInt(ofClock.orElse(0)),
                    lineBytes,
                    node.path("prefetch").asBoolean(false),
                    fetch,
                    data(node, pointer),
                    miss);
            if (node.path("shared").asBoolean(false) && fetch.isEmpty()) {
                add("a cache is shared that the memory does not have", pointer + "/shared", "the key fetch beside it");
            }
            if (miss.isPresent() && fetch.isEmpty() && wait.data().isEmpty()) {
                add("lines are missing in no cache", pointer + "/missCycles", "the key fetch or data beside it");
            }
            if (miss.isEmpty()) {
                fetch.ifPresent(cache -> checkSector(cache, lineBytes, pointer + "/fetch"));
                wait.data()
                        .filter(DataCache.Own.class::isInstance)
                        .map(DataCache.Own.class::cast)
                        .ifPresent(own -> checkSector(own.cache(), lineBytes, pointer + "/data"));
            }
            return Optional.of(wait);
        }

        /** The key {@code fetch} of a memory. */
        Optional<CodeFetch> fetch(JsonNode node, Kind kind, String pointer) {
            if (node.isMissingNode()) {
                return Optional.empty();
            }
            if (kind == Kind.ROM) {
                add(
                        "the memory is read-only, and says how it fetches code",
                        pointer,
                        "the key for memories of kind ram");
            }
            return Arrays.stream(CodeFetch.values())
                    .filter(fetch -> fetch.key().equals(node.asText()))
                    .findFirst();
        }

        /** The key {@code alternatives} of a memory. */
        List<AlternativeWait> alternatives(JsonNode node, String pointer) {
            List<AlternativeWait> all = new ArrayList<>();
            WaitParser withoutClock = new WaitParser(profile, problems, OptionalInt.empty());
            for (int i = 0; i < node.size(); i++) {
                JsonNode one = node.get(i);
                OptionalLong hertz =
                        one.has("hertz") ? OptionalLong.of(one.get("hertz").asLong()) : OptionalLong.empty();
                withoutClock
                        .read(one.path("wait"), pointer + "/" + i + "/wait")
                        .ifPresent(wait ->
                                all.add(new AlternativeWait(one.path("title").asText(), hertz, wait)));
            }
            return all;
        }

        private Optional<DataCache> data(JsonNode node, String pointer) {
            boolean isShared = node.path("shared").asBoolean(false);
            Optional<DataCache> own =
                    cache(node.path("data"), pointer + "/data").map(DataCache.Own::new);
            if (isShared && own.isPresent()) {
                add("constants have two caches", pointer, "either data or shared: true");
            }
            return isShared ? Optional.of(new DataCache.Shared()) : own;
        }

        private Optional<Cache> cache(JsonNode node, String pointer) {
            if (!node.isObject()) {
                return Optional.empty();
            }
            int lineBytes = node.get("lineBytes").asInt();
            Cache cache = new Cache(
                    node.get("lines").asInt(),
                    lineBytes,
                    node.get("ways").asInt(),
                    node.path("sectorBytes").asInt(lineBytes));
            if (cache.sectorBytes() > lineBytes) {
                add("a sector is larger than its line", pointer + "/sectorBytes", "at most " + lineBytes);
            }
            boolean isWhole =
                    cache.ways() == 0 || (cache.lines() % cache.ways() == 0 && Integer.bitCount(cache.sets()) == 1);
            if (!isWhole) {
                add(
                        cache.lines() + " lines are no sets of " + cache.ways() + " ways",
                        pointer + "/lines",
                        "the ways times a power of two");
            }
            return Optional.of(cache);
        }

        /** Without a price of their own, misses are single reads. */
        private void checkSector(Cache cache, int lineBytes, String pointer) {
            if (cache.sectorBytes() != lineBytes) {
                add(
                        "a miss reads " + cache.sectorBytes() + " bytes, and an access " + lineBytes,
                        pointer,
                        "sectorBytes: " + lineBytes + ", or the key missCycles");
            }
        }

        private Optional<CycleRange> range(JsonNode node, String pointer) {
            if (!node.isArray()) {
                return Optional.empty();
            }
            long low = node.get(0).asLong();
            long expected = node.get(1).asLong();
            long high = node.get(2).asLong();
            if (low > expected || expected > high) {
                add("the cycles are not in order", pointer, "the least, the expected and the most");
                return Optional.empty();
            }
            return Optional.of(new CycleRange(low, expected, high));
        }

        private void add(String what, String pointer, String expected) {
            problems.add(what, profile.where(pointer), expected);
        }
    }
}
