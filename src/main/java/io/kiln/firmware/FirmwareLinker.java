// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ArArchive;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.base.incremental.Fingerprint.Made;
import io.kiln.base.incremental.Fingerprint.Made.FileDigests;
import io.kiln.base.incremental.Fingerprint.Made.Journal;
import io.kiln.firmware.FirmwareCompiler.Compilation;
import io.kiln.firmware.ObjectCache.Staleness;
import io.kiln.firmware.image.ImageFiles;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.firmware.image.LinkedArchives;
import io.kiln.firmware.image.Measurement;
import io.kiln.firmware.image.Measurement.ImageMeasurer;
import io.kiln.firmware.image.Measurement.MemoryTable;
import io.kiln.firmware.image.Measurement.PlacedSection;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.board.Board;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Links objects to an image, checks it against the board's memories and writes it in every format. */
public final class FirmwareLinker {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final String INDEX = "image.json";
    private static final String LOG_FILE = "link.log";

    /** What GNU ld and LLD say of functions that are called and exist nowhere. */
    private static final Pattern UNDEFINED = Pattern.compile("undefined (?:reference to|symbol:)");

    /** What linkers say of a memory that is too small: GNU ld writes "region overflowed", LLD "section will not fit in region". */
    private static final Pattern OVERFLOW = Pattern.compile("overflowed by|will not fit in region");

    private final FirmwareProject project;
    private final CompiledObjects objects;
    private final CommandLines lines;
    private final ImageFiles files;
    private final Path folder;
    private final String base;
    private final Log log;
    private final Demands demands;

    private FirmwareLinker(CompiledObjects objects, Path folder, String base, Log log, Demands demands) {
        this.project = objects.project();
        this.objects = objects;
        this.lines = new CommandLines(project);
        this.folder = folder.toAbsolutePath().normalize();
        this.base = base;
        this.files = new ImageFiles(
                this.folder,
                base,
                project.buildDirectory(),
                project.board().building().uf2Family(),
                log);
        this.log = log;
        this.demands = demands;
    }

    /**
     * Makes {@code <base>.elf}, {@code .map} and, except for the board {@code host}, {@code .bin} and {@code .hex}, and {@code .uf2} for boards that take it: all
     * or none. If nothing has changed since they were made, it leaves them alone and logs that. The linker's whole
     * output is in {@code link.log} in the project's build directory.
     *
     * @throws KilnException with the linker's output, or with a table of memory needs if a memory is too small
     */
    public static Image link(CompiledObjects objects, Path folder, String base, Log log) {
        return link(objects, folder, base, log, Demands.NONE);
    }

    /**
     * What is asked of an image.
     *
     * @param advice called if the image does not fit; its answer ends the message
     * @param limits throws if the image takes more than it may, before any of it is written
     */
    public record Demands(Function<Measurement, String> advice, Consumer<Measurement> limits) {
        static final Demands NONE = new Demands(measurement -> "", measurement -> {});
    }

    /** Links as {@link #link(CompiledObjects, Path, String, Log)} does, with demands. */
    public static Image link(CompiledObjects objects, Path folder, String base, Log log, Demands demands) {
        return new FirmwareLinker(objects, folder, base, log, demands).link();
    }

    /**
     * An image that may be larger than its board.
     *
     * @param elf linked for the board with more room in each memory
     * @param measurement what it takes of the board's memories
     */
    public record Roomy(Path elf, Measurement measurement) {}

    /**
     * Measures an image of these objects, whether or not it fits; the image is not kept.
     *
     * @param folder for the files that linking needs
     * @return empty if linking fails for other reasons
     */
    public static Optional<Measurement> measure(CompiledObjects objects, Path folder) {
        return roomy(objects, folder).map(Roomy::measurement);
    }

    /** Links as {@link #measure} does, and keeps the image in the project's build directory. */
    public static Optional<Roomy> roomy(CompiledObjects objects, Path folder) {
        FirmwareLinker linker = new FirmwareLinker(objects, folder, "measured", Log.QUIET, Demands.NONE);
        Path elf = linker.project.buildDirectory().resolve("measured.elf");
        Path map = linker.project.buildDirectory().resolve("measured.map");
        return linker.linksWithRoom(elf, map) ? Optional.of(new Roomy(elf, linker.measure(elf))) : Optional.empty();
    }

    /** Why the last linked image is not of these objects; empty if it is. Later changes of the file itself are not checked. */
    public static Optional<String> changedInput(CompiledObjects objects, Path folder, String base) {
        FirmwareLinker linker = new FirmwareLinker(objects, folder, base, Log.QUIET, Demands.NONE);
        Optional<Made> last = linker.journal().read(base);
        return Staleness.changedInput(last, linker.inputsNow(last, new FileDigests(linker.project.directory())));
    }

    /**
     * Files that compiler and linker have read outside of the firmware projects, such as headers of the system.
     *
     * @param folder below which the projects' build directories lie
     */
    public static Set<Path> filesElsewhere(Path folder) {
        return Fingerprint.filesBelow(folder).stream()
                .filter(file -> file.endsWith(FirmwareCompiler.INDEX) || file.endsWith(INDEX))
                .flatMap(index -> new Journal(index).read().values().stream())
                .flatMap(made -> Staleness.files(made).stream())
                .map(Path::of)
                .filter(Path::isAbsolute)
                .collect(Collectors.toSet());
    }

    private Journal journal() {
        return new Journal(project.buildDirectory().resolve(INDEX));
    }

    private Fingerprint inputsNow(Optional<Made> last, FileDigests digests) {
        return Staleness.inputsNow(
                        Compilation.tool(project),
                        commandDigest(),
                        last.map(Staleness::files).orElse(Set.of()),
                        digests)
                .value(Staleness.BOARD, project.board());
    }

    private Image link() {
        FileDigests digests = new FileDigests(project.directory());
        Optional<Made> last = journal().read(base);
        Optional<String> reason = Staleness.reason(last, inputsNow(last, digests), folder);
        if (reason.isEmpty()) {
            Image image = files.image(last.get().outputs().keySet(), measure(files.file("elf")), false);
            demands.limits.accept(image.measurement());
            log.info("Nothing changed: " + image.elf() + " is up to date (" + MemoryTable.line(image.measurement())
                    + ")");
            return image;
        }
        Path elf = project.buildDirectory().resolve("image.elf");
        Path map = project.buildDirectory().resolve("image.map");
        Instant began = Instant.now();
        inputs().forEach(digests::of);
        ForeignObjects.check(objects);
        runLinker(elf, map);
        if (project.board().isHost() && !project.strangers().isEmpty()) {
            HostSymbols.check(objects, elf);
        }
        Measurement measurement = measure(elf);
        requireMemories(elf);
        requireFit(measurement);
        demands.limits.accept(measurement);
        Map<String, String> read = read(digests, began, map);
        Map<String, String> outputs = files.publish(elf, map, project.board().isHost());
        Fingerprint inputs = Staleness.inputs(Compilation.tool(project), commandDigest(), read, List.of())
                .value(Staleness.BOARD, project.board());
        journal().write(Map.of(base, Made.of(inputs, outputs)));
        Image image = files.image(outputs.keySet(), measurement, true);
        log.info("Linked " + image.elf() + ": " + MemoryTable.line(measurement));
        return image;
    }

    private void runLinker(Path elf, Path map) {
        Board board = project.board();
        ProcessResult result = run(elf, map, ProjectFiles.BOARD, project.linkerScript(), LOG_FILE);
        boolean hasOverflowed =
                !result.succeeded() && OVERFLOW.matcher(result.message()).find();
        if (hasOverflowed && board.moreLinker().isPresent()) {
            result = run(elf, map, ProjectFiles.BOARD, roomiestScript(), LOG_FILE);
        }
        if (result.succeeded()) {
            return;
        }
        if (FileFailure.isDiskFull(result.message())) {
            delete(elf, map);
            throw new KilnException(FileFailure.diskFull(elf));
        }
        if (hasOverflowed && linksWithRoom(elf, map)) {
            requireFit(measure(elf));
        }
        throw Failure.CODE.exception(
                (result.timedOut() ? "the linker timed out" : "does not link") + ":\n"
                        + new UserNames(project).original(result.message()),
                base + ".elf",
                "",
                UNDEFINED.matcher(result.message()).find()
                        ? "Define what is undefined in src/main/c, or add the sources or the library that have it"
                        : "");
    }

    private static void delete(Path... parts) {
        for (Path part : parts) {
            WholeFiles.delete(part);
        }
    }

    private boolean linksWithRoom(Path elf, Path map) {
        Path roomy = project.buildDirectory().resolve("overflow");
        RoomyScripts.write(project.board(), roomy);
        return run(elf, map, lines.relative(roomy), roomiestScript(), "overflow.log")
                .succeeded();
    }

    /** The script with a second place for constants that do not fit, if the board has one. */
    private Optional<String> roomiestScript() {
        return project.board().moreLinker().or(project::linkerScript);
    }

    private ProcessResult run(Path elf, Path map, String scripts, Optional<String> script, String logFile) {
        try {
            Files.createDirectories(elf.getParent());
            Files.deleteIfExists(elf);
        } catch (IOException e) {
            throw FileFailure.of("cannot write", elf, e);
        }
        return ProcessRunner.run(
                Command.ofLine(lines.link(objectNames(), lines.relative(elf), lines.relative(map), scripts, script))
                        .in(project.directory())
                        .without(Compilation.MISLEADING)
                        .within(LIMIT)
                        .loggingTo(project.buildDirectory().resolve(logFile)));
    }

    /** A linker script without numbers that could be compared with the board's shows only here that it places something elsewhere. */
    private void requireMemories(Path elf) {
        List<PlacedSection> strays =
                ElfFile.isElf(elf) ? ImageMeasurer.strays(ElfFile.read(elf), project.board()) : List.of();
        if (!strays.isEmpty()) {
            throw Failure.BOARD.exception(
                    strays.stream()
                            .map(section -> String.format(
                                    Locale.ROOT,
                                    "the section %s of %,d bytes lies at 0x%08x, where the board has no memory",
                                    section.name(),
                                    section.bytes(),
                                    section.address()))
                            .collect(Collectors.joining("; ")),
                    "board " + project.board().id(),
                    "sections in the memories of board.yaml",
                    "Correct the linker script, or list the memory in board.yaml");
        }
    }

    private void requireFit(Measurement measurement) {
        if (!measurement.fits()) {
            throw Failure.MEMORY.exception(
                    "the image does not fit:\n" + MemoryTable.table(measurement),
                    "board " + project.board().id(),
                    "",
                    "Take a smaller model or a board with more memory" + demands.advice.apply(measurement));
        }
    }

    private Measurement measure(Path elf) {
        if (!ElfFile.isElf(elf) && project.board().isHost()) {
            return Measurement.NONE;
        }
        return ImageMeasurer.measure(ElfFile.read(elf), project.board());
    }

    private List<String> objectNames() {
        return objects.inLinkOrder().stream().map(lines::relative).toList();
    }

    private String commandDigest() {
        String line =
                String.join("\0", lines.link(objectNames(), base, base, ProjectFiles.BOARD, project.linkerScript()));
        return Digests.sha256(line.replace(project.directory().toString(), "."));
    }

    /** The files that a link reads: objects, libraries, and every linker script of the board, because scripts include each other. */
    private List<String> inputs() {
        Stream<String> scripts = project.board().files().keySet().stream()
                .filter(name -> name.endsWith(".ld"))
                .map(name -> ProjectFiles.BOARD + "/" + name);
        return Stream.of(objectNames().stream(), project.objects().stream(), project.libraries().stream(), scripts)
                .flatMap(names -> names)
                .distinct()
                .toList();
    }

    private Map<String, String> read(FileDigests digests, Instant began, Path map) {
        Map<String, String> inputs = new TreeMap<>();
        inputs().forEach(name -> inputs.put(name, digests.read(name, began).orElse("")));
        // The compiler's own libraries are not on the command line.
        if (Files.isRegularFile(map)) {
            LinkedArchives.read(map, project.directory()).keySet().stream()
                    .map(file -> file.startsWith(project.directory()) ? lines.relative(file) : file.toString())
                    .forEach(name -> digests.read(name, began).ifPresent(digest -> inputs.putIfAbsent(name, digest)));
        }
        return inputs;
    }

    /**
     * Copies of a board's linker scripts in which every memory is 64 MiB larger. An image that overflows a memory links
     * with them and can be measured as a whole; GNU ld and LLD stop at the first sections that do not fit and report only
     * the excess.
     */
    static final class RoomyScripts {
        private static final Pattern MEMORY = Pattern.compile("\\bMEMORY\\s*\\{[^}]*}");

        /**
         * The length of a memory in a linker script. {@code LENGTH}, {@code len} and {@code l} mean the same; the value ends at the
         * line's end or the closing brace.
         */
        private static final Pattern LENGTH =
                Pattern.compile("\\b(LENGTH|len|l)\\s*=\\s*([^\\n};]+?)\\s*(?=/\\*|[\\n}])");

        private RoomyScripts() {}

        /** Writes all of the board's scripts into the folder. */
        static void write(Board board, Path folder) {
            board.files().forEach((name, content) -> {
                if (name.endsWith(".ld")) {
                    WholeFiles.write(folder.resolve(name), enlarge(content.text()));
                }
            });
        }

        static String enlarge(String script) {
            return MEMORY.matcher(script)
                    .replaceAll(block -> Matcher.quoteReplacement(
                            LENGTH.matcher(block.group()).replaceAll("$1 = ($2) + 64M")));
        }
    }

    /**
     * Checks the objects that were not compiled by this build: those of model libraries, and the members of the user's static libraries. Linkers
     * accept many that were compiled for another core, and their code then computes with garbage.
     */
    private static final class ForeignObjects {
        private static final int RELOCATABLE = 1;
        private static final int TYPE_AT = 16;
        private static final int SHOWN = 4;
        private static final String ADVICE = "Compile it with the board's flags, which make -n in the C project shows";

        private final FirmwareProject project;
        private final UserNames names;
        private final ObjectAbi image;
        private final Problems problems = new Problems(Failure.LIBRARY);

        private ForeignObjects(FirmwareProject project, ObjectAbi image) {
            this.project = project;
            this.names = new UserNames(project);
            this.image = image;
        }

        /**
         * Compares all of them with what this build compiled from C: assemblers do not say how functions are called.
         *
         * @throws KilnException naming each object and library that does not fit, with both values
         */
        static void check(CompiledObjects objects) {
            FirmwareProject project = objects.project();
            Optional<Path> own = project.units().stream()
                    .filter(unit -> !unit.isAssembler())
                    .map(unit -> objects.files().get(unit.path()))
                    .filter(ElfFile::isElf)
                    .findFirst();
            if (own.isEmpty()
                    || (project.objects().isEmpty() && project.libraries().isEmpty())) {
                return;
            }
            ForeignObjects check = new ForeignObjects(
                    project, ObjectAbi.of(ElfFile.read(own.get()), own.get().toString()));
            project.objects().forEach(check::object);
            project.libraries().forEach(check::library);
            check.problems.throwIfAny();
        }

        private Bytes content(String name) {
            Path file = project.directory().resolve(name);
            return WholeFiles.read(file);
        }

        /** Checks the members of a static library; those that do not fit for the same reason are one problem. */
        private void library(String path) {
            String name = names.name(path);
            try {
                SortedMap<String, List<String>> unfit = new TreeMap<>();
                for (ArArchive.Member member : ArArchive.read(name, content(path))) {
                    unfit(member.content(), name + "(" + member.name() + ")")
                            .ifPresent(why -> unfit.computeIfAbsent(why, each -> new ArrayList<>())
                                    .add(member.name()));
                }
                unfit.forEach((why, members) -> problems.add(why, name + shown(members), "", ADVICE));
            } catch (KilnException e) {
                e.problems().forEach(problems::add);
            }
        }

        private static String shown(List<String> members) {
            String more = members.size() > SHOWN ? " and " + (members.size() - SHOWN) + " more" : "";
            return "(" + members.stream().limit(SHOWN).collect(Collectors.joining(", ")) + more + ")";
        }

        private void object(String path) {
            String name = names.name(path);
            unfit(content(path), name).ifPresent(why -> problems.add(why, name, "", ADVICE));
        }

        /** Why an object cannot be linked; empty if it can. */
        private Optional<String> unfit(Bytes content, String name) {
            Optional<String> other = otherFormat(content);
            if (other.isPresent()) {
                return other;
            }
            try {
                ElfFile elf = ElfFile.read(content, name);
                int type = elf.content().getShort(TYPE_AT);
                if (type != RELOCATABLE) {
                    return Optional.of("this is ELF of type " + type + ", not an object to link, which is of type 1");
                }
                List<ObjectAbi.Difference> differences = image.differences(ObjectAbi.of(elf, name));
                return differences.isEmpty()
                        ? Optional.empty()
                        : Optional.of("it was not compiled for this image:\n"
                                + differences.stream()
                                        .map(difference -> "  " + difference.text())
                                        .collect(Collectors.joining("\n")));
            } catch (KilnException e) {
                return Optional.of(e.getMessage());
            }
        }

        /** The format of a file that is not ELF, in words; empty for ELF. */
        private static Optional<String> otherFormat(Bytes content) {
            int first = content.size() < 4 ? 0 : content.buffer().getInt(0);
            int swapped = Integer.reverseBytes(first);
            if (first == 0x7f454c46 || swapped == 0x7f454c46) {
                return Optional.empty();
            }
            boolean isBitcode =
                    first == 0x4243c0de || swapped == 0x4243c0de || first == 0x0b17c0de || swapped == 0x0b17c0de;
            return Optional.of(
                    isBitcode ? "this is LLVM bitcode (-flto), not an object in ELF" : "this is not an object in ELF");
        }
    }

    /**
     * Checks an executable with untrusted code for anything that would run before the sandbox is active. A loader runs
     * functions named by some sections, and resolver functions that choose others; and a function exported by an executable
     * replaces a library's, also for the loader. None of these may occur in untrusted code, so that its first code to run
     * is a model called by main.
     */
    static final class HostSymbols {
        private static final int DYNAMIC_SYMBOLS = 11;
        private static final int INDIRECT_FUNCTION = 10;

        /** Sections that compilers emit for C without attributes. */
        private static final Pattern SECTIONS =
                Pattern.compile("(?:\\.rela?)?\\.(?:text|rodata|data|bss|tdata|tbss|eh_frame|debug_"
                        + "|comment|note|symtab|strtab|shstrtab|group|llvm_addrsig).*|");

        /** Symbols that a C library's start-up files call, some before all constructors, without exporting them to a library. */
        private static final Pattern START_UP =
                Pattern.compile("__gmon_start__|__libc_.*|_dl_.*|_ITM_.*|_init|_fini|_start");

        private HostSymbols() {}

        /** Reasons to refuse the object of an untrusted source. */
        static List<String> refusals(ElfFile object) {
            List<String> refused = new ArrayList<>();
            for (Section section : object.sections()) {
                if (!SECTIONS.matcher(section.name()).matches()) {
                    refused.add("the section " + section.name());
                }
            }
            for (Symbol symbol : object.symbols()) {
                if (symbol.type() == INDIRECT_FUNCTION) {
                    refused.add("a function chosen at load time: " + symbol.name());
                } else if (symbol.section() != 0
                        && START_UP.matcher(symbol.name()).matches()) {
                    refused.add("a function or variable used by start-up files: " + symbol.name());
                }
            }
            return refused;
        }

        /**
         * Checks a linked executable against its objects.
         *
         * @throws KilnException naming each function or variable of an object that replaces a library's
         */
        static void check(CompiledObjects objects, Path image) {
            Set<String> own = new HashSet<>();
            for (Path file : objects.inLinkOrder()) {
                ElfFile.read(file).symbols().stream()
                        .filter(symbol -> symbol.section() != 0)
                        .forEach(symbol -> own.add(symbol.name()));
            }
            Problems problems = new Problems(Failure.CODE);
            for (String name : exportedNames(ElfFile.read(image))) {
                if (own.contains(name)) {
                    String advice =
                            String.join(" ", objects.project().strangers().advice());
                    problems.add(
                            "refused together with untrusted code: " + name
                                    + " replaces a library's before the sandbox is active",
                            image.getFileName().toString(),
                            "",
                            advice);
                }
            }
            problems.throwIfAny();
        }

        /** The names that an executable exports to its libraries; all of its names if it is statically linked. */
        private static Set<String> exportedNames(ElfFile image) {
            boolean isDynamic = image.sections().stream().anyMatch(section -> section.type() == DYNAMIC_SYMBOLS);
            return (isDynamic ? image.dynamicSymbols() : image.symbols())
                    .stream()
                            .filter(symbol -> !isDynamic || symbol.section() != 0)
                            .map(ElfFile.Symbol::name)
                            .collect(Collectors.toSet());
        }
    }
}
