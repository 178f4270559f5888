// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.ProgramWatch.WatchedProgram;
import io.kiln.device.fault.StackUse;
import io.kiln.device.lease.Lease;
import io.kiln.device.transport.TimedInput;
import io.kiln.device.transport.Transport;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.device.FlashStep;
import io.kiln.flow.device.Leases;
import io.kiln.flow.device.Leases.BoardUse;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.MachineSpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.ImageSpec.TestSpec;
import io.kiln.flow.state.Steps;
import io.kiln.flow.test.ProgramTest.ProgramMachine;
import io.kiln.flow.test.ProgramTest.ProgramRun;
import io.kiln.flow.test.ProgramTest.ProgramRun.Ending;
import io.kiln.flow.test.ProgramTest.ProgramScript;
import io.kiln.flow.test.ProgramTest.ProgramScript.Exit;
import io.kiln.flow.test.ProgramTest.ProgramScript.Expect;
import io.kiln.flow.test.ProgramTest.ProgramScript.Send;
import io.kiln.flow.test.ProgramTest.ProgramScript.Step;
import io.kiln.report.JUnitXml;
import io.kiln.report.JUnitXml.TestReport;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlDocument.YamlSchema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Runs the tests of a project's own program: {@code src/test/firmware/*.yaml} against the image, and {@code src/test/c} on
 * this computer and on the board's emulator. Writes {@code TEST-kiln-test.xml}.
 */
public final class TestStep {
    private static final String REPORT = "TEST-kiln-test.xml";
    private static final String HOST = "host";

    private final Log log;
    private final BuildSpec spec;
    private final DeviceSpec device;
    private final TestSpec tests;
    private final Function<BuildSpec, ResolvedBuild> generated;
    private final Function<BuildSpec, ResolvedBuild> linked;
    private final Map<String, ResolvedBuild> builds = new HashMap<>();

    /**
     * @param device how a board is reached, for tests on one
     * @param generated makes a build's models
     * @param linked makes a build's image
     */
    public TestStep(
            Log log,
            BuildSpec spec,
            DeviceSpec device,
            TestSpec tests,
            Function<BuildSpec, ResolvedBuild> generated,
            Function<BuildSpec, ResolvedBuild> linked) {
        this.log = log;
        this.spec = spec;
        this.device = device;
        this.tests = tests;
        this.generated = generated;
        this.linked = linked;
    }

    /** Whether a project has tests. */
    public static boolean areIn(Layout layout) {
        return hasFiles(layout.programTests()) || hasFiles(layout.unitTests());
    }

    private static boolean hasFiles(Path folder) {
        return Files.isDirectory(folder) && !WholeFiles.below(folder).isEmpty();
    }

    /** Adds every mistake in the scripts of a project. */
    public static void check(Layout layout, Problems problems) {
        problems.collect(() -> ScriptReader.read(layout.programTests()));
    }

    /**
     * Runs all tests, those in emulators and on this computer only if images or tests differ from those that passed last time, and logs in one
     * line for each machine how they went.
     *
     * @throws KilnException naming each test that failed; the report is written all the same
     */
    public void run() {
        Map<String, List<ProgramScript>> scripts =
                byBoard(ScriptReader.read(spec.layout().programTests()));
        if (tests.onBoard()) {
            run(scripts);
        } else {
            new Steps(log, spec.layout()).run("Testing", fingerprint(scripts.keySet()), () -> run(scripts));
        }
    }

    /** The project's code is an input itself: unit tests are linked with it. */
    private Fingerprint fingerprint(Set<String> boards) {
        Fingerprint now = Fingerprint.of("test")
                .value("tests", tests)
                .value("program tests", spec.layout().programTests())
                .value("unit tests", spec.layout().unitTests())
                .value("sources", spec.layout().userSources())
                .value("code", spec.image().code());
        if (hasUnitTests() && tests.onHost()) {
            now.value("on this computer", onHost());
        }
        Set<String> linkedFor = new TreeSet<>(boards);
        if (hasUnitTests() && tests.onTarget()) {
            linkedFor.add(spec.board());
        }
        for (String board : linkedFor) {
            ResolvedBuild build = linkedFor(board);
            now.value("on " + board, build)
                    .value("image for " + board, build.spec().layout().image("elf"));
        }
        return now;
    }

    private boolean hasUnitTests() {
        return hasFiles(spec.layout().unitTests());
    }

    private ResolvedBuild onHost() {
        return builds.computeIfAbsent(HOST + " alone", name -> generated.apply(forBoard(HOST)));
    }

    private ResolvedBuild linkedFor(String board) {
        return builds.computeIfAbsent(board, name -> linked.apply(name.equals(spec.board()) ? spec : forBoard(name)));
    }

    private Collection<Path> run(Map<String, List<ProgramScript>> scripts) {
        List<TestReport.Suite> suites = new ArrayList<>();
        if (hasUnitTests()) {
            suites.addAll(unitTests());
        }
        scripts.forEach((board, group) -> suites.add(programTests(board, group)));
        TestReport report = new TestReport(suites);
        Path file = spec.layout().reports().resolve(REPORT);
        JUnitXml.write(file, report);
        suites.forEach(suite -> log.info(suite.name() + ": " + summary(new TestReport(List.of(suite)))));
        requirePassed(report);
        return List.of(file);
    }

    private static String summary(TestReport report) {
        return report.tests()
                + (report.tests() == 1 ? " test, " : " tests, ")
                + (report.failures() == 0 ? "all passed" : report.failures() + " failed");
    }

    private static void requirePassed(TestReport report) {
        List<Problem> problems = new ArrayList<>();
        for (TestReport.Suite suite : report.suites()) {
            for (TestReport.Case test : suite.cases()) {
                test.failure()
                        .ifPresent(failure ->
                                problems.add(Failure.TEST.problem(failure, suite.name() + ", " + test.name())));
            }
        }
        if (!problems.isEmpty()) {
            throw new KilnException(problems);
        }
    }

    private List<TestReport.Suite> unitTests() {
        List<TestReport.Suite> suites = new ArrayList<>();
        UnitTests units = new UnitTests(spec.layout().unitTests());
        if (tests.onHost()) {
            suites.add(units.run(onHost(), "unit tests on this computer"));
        }
        if (tests.onTarget()) {
            suites.add(units.run(linkedFor(spec.board()), "unit tests on " + spec.board()));
        }
        return suites;
    }

    private Map<String, List<ProgramScript>> byBoard(List<ProgramScript> scripts) {
        Map<String, List<ProgramScript>> groups = new LinkedHashMap<>();
        scripts.forEach(
                script -> groups.computeIfAbsent(script.board().orElse(spec.board()), board -> new ArrayList<>())
                        .add(script));
        return groups;
    }

    private TestReport.Suite programTests(String board, List<ProgramScript> scripts) {
        ResolvedBuild build = linkedFor(board);
        Path logs = spec.layout().reports().resolve("test");
        ProgramMachine machine = tests.onBoard() && board.equals(spec.board())
                ? new BoardMachine(log, build, device, logs)
                : EmulatorMachine.of(log, build, logs);
        List<TestReport.Case> cases = new ArrayList<>();
        Optional<StackUse> deepest = Optional.empty();
        for (ProgramScript script : scripts) {
            ProgramMachine.Result result = machine.run(script);
            Optional<StackUse> use = FirmwareSteps.ofBoard(build.spec().layout(), result.stack());
            cases.add(of(script, result, use));
            deepest = Stream.of(deepest, use).flatMap(Optional::stream).max(Comparator.comparingLong(StackUse::used));
        }
        // An overflowed stack has failed its test already.
        FirmwareSteps.recordStack(log, build.spec().layout(), deepest);
        return new TestReport.Suite("program on " + machine.name(), cases);
    }

    private static TestReport.Case of(ProgramScript script, ProgramMachine.Result result, Optional<StackUse> stack) {
        List<Problem> problems = result.problems().isEmpty()
                ? stack.flatMap(StackUse::problem).stream().toList()
                : result.problems();
        return new TestReport.Case(
                script.name(),
                result.time(),
                problems.isEmpty() ? Optional.empty() : Optional.of(new KilnException(problems).getMessage()));
    }

    /** The same build for another board, in a folder of its own. The host has its own compiler. */
    private BuildSpec forBoard(String board) {
        Layout layout = spec.layout();
        Layout own =
                new Layout(layout.project(), layout.reports().resolve("test").resolve(board), layout.base());
        Optional<String> toolchain = board.equals(HOST) ? Optional.empty() : spec.toolchain();
        MachineSpec machine = spec.machine();
        return spec.with(own).with(new MachineSpec(board, toolchain, machine.boardSources(), machine.update()));
    }

    /**
     * The machine that is a board, real or virtual. It is flashed before each test, which also starts its program; a board that holds
     * the image already is only started.
     *
     * @param log gets messages about each step
     * @param build what is under test
     * @param device how the board is reached
     * @param logs folder of the programs' output
     */
    private record BoardMachine(Log log, ResolvedBuild build, DeviceSpec device, Path logs) implements ProgramMachine {
        @Override
        public String name() {
            return "the board " + build.board().id();
        }

        @Override
        public Result run(ProgramScript script) {
            Path elf = FlashStep.image(build);
            try (Lease lease = new Leases(
                                    BoardUse.of(build), device, script.limit(), logs.resolve(script.name() + ".log"))
                            .take();
                    Transport line = lease.start(() -> bring(lease, elf))) {
                ProgramRun program = new ProgramRun(
                        new TimedInput(line.input()),
                        line.output(),
                        elf,
                        OptionalInt::empty,
                        reported -> StackUse.of(elf, reported));
                return ProgramTest.run(script, program, lease.log());
            }
        }

        private void bring(Lease lease, Path elf) {
            if (device.isFlashed()) {
                new FlashStep(log, build, device.flash()).flash(elf, lease::flashRunner);
            }
        }
    }

    /** Reads the tests of a folder: {@code *.yaml} files, described by {@code toolchains/schemas/test.schema.json}. */
    static final class ScriptReader {
        private static final String SUFFIX = ".yaml";
        private static final int USUAL_SECONDS = 10;

        private ScriptReader() {}

        /** Holds the schema, which is loaded only if there are tests. */
        private static final class Schema {
            static final YamlSchema OF_TESTS = new YamlSchema("test.schema.json");
        }

        /**
         * All tests of a folder, by name; none if it does not exist.
         *
         * @throws KilnException with every mistake in every file, each with its line and column
         */
        static List<ProgramScript> read(Path folder) {
            List<ProgramScript> scripts = new ArrayList<>();
            Problems problems = new Problems(Failure.TEST);
            for (Path file : files(folder)) {
                read(file, YamlDocument.content(file), problems).ifPresent(scripts::add);
            }
            problems.throwIfAny();
            return scripts;
        }

        private static List<Path> files(Path folder) {
            return Files.isDirectory(folder)
                    ? WholeFiles.list(folder).stream()
                            .filter(file -> file.toString().endsWith(SUFFIX) && Files.isRegularFile(file))
                            .toList()
                    : List.of();
        }

        private static Optional<ProgramScript> read(Path file, Bytes content, Problems problems) {
            try {
                YamlDocument document = YamlDocument.parse(file.toString(), content);
                Problems own = new Problems(Failure.TEST);
                Schema.OF_TESTS.checkExactly(document, own);
                own.list().forEach(problems::add);
                return own.isEmpty() ? Optional.of(script(file, document)) : Optional.empty();
            } catch (KilnException e) {
                e.problems().forEach(problems::add);
                return Optional.empty();
            }
        }

        private static ProgramScript script(Path file, YamlDocument document) {
            JsonNode root = document.root();
            List<Step> steps = new ArrayList<>();
            for (JsonNode step : root.path("steps")) {
                String where = document.exactly("/steps/" + steps.size());
                steps.add(
                        step.has("expect")
                                ? new Expect(step.path("expect").asText(), where)
                                : new Send(step.path("send").asText()));
            }
            String name = file.getFileName().toString();
            return new ProgramScript(
                    name.substring(0, name.length() - SUFFIX.length()),
                    Optional.ofNullable(root.path("board").textValue()),
                    Duration.ofSeconds(root.path("timeout").asInt(USUAL_SECONDS)),
                    steps,
                    root.has("exit")
                            ? Optional.of(new Exit(root.path("exit").asInt(), document.exactly("/exit")))
                            : Optional.empty(),
                    file.toString());
        }
    }

    /**
     * Unit tests in C: the project's code without its {@code main}, with a runner, in one image.
     *
     * @param folder the folder of the tests
     */
    private record UnitTests(Path folder) {
        /** Time limit of unit tests: they are short, but on a slow emulator they may take a while. */
        private static final Duration LIMIT = Duration.ofMinutes(2);

        /**
         * Builds and runs them.
         *
         * @param name name of the suite
         * @throws KilnException if they do not compile or link, or none ran
         */
        TestReport.Suite run(ResolvedBuild build, String name) {
            RunnableImage image = RunnableImage.ofUnitTests(build, folder);
            UnitTestLines lines = new UnitTestLines(System::nanoTime);
            Emulator emulator = Emulator.of(image.board(), LIMIT);
            try (WatchedProgram program = emulator.watch(image.file())) {
                Ending ending = EmulatorMachine.of(program, image).follow(LIMIT, lines, text -> false);
                String how = ending.failure()
                        .map(fault -> new KilnException(fault).getMessage())
                        .orElse(ending.text(LIMIT));
                List<TestReport.Case> cases = lines.cases(how);
                if (cases.isEmpty()) {
                    throw Failure.TEST.exception(
                            "no unit test ran: " + how,
                            folder.toString(),
                            "tests such as KILN_TEST(name) { KILN_CHECK(1 + 1 == 2); } with #include \"kiln_test.h\"");
                }
                boolean overflowed =
                        ending.fault().isEmpty() && ending.failure().isPresent();
                if (overflowed) {
                    cases.add(new TestReport.Case("stack", Duration.ZERO, Optional.of(how)));
                }
                return new TestReport.Suite(name, cases);
            }
        }

        /** Reads what the runner of unit tests prints, {@code kiln_test.c}. Not thread-safe. */
        private static final class UnitTestLines implements Consumer<String> {
            private static final String RUN = "kiln-test: run ";
            private static final String OK = "kiln-test: ok ";
            private static final String FAILED = "kiln-test: failed ";

            private final LongSupplier clock;
            private final StringBuilder line = new StringBuilder();
            private final List<TestReport.Case> cases = new ArrayList<>();
            private Optional<String> running = Optional.empty();
            private long began;

            /**
             * @param clock nanoseconds
             */
            UnitTestLines(LongSupplier clock) {
                this.clock = clock;
            }

            @Override
            public void accept(String text) {
                for (int i = 0; i < text.length(); i++) {
                    char character = text.charAt(i);
                    if (character == '\n') {
                        take(line.toString());
                        line.setLength(0);
                    } else if (character != '\r') {
                        line.append(character);
                    }
                }
            }

            private void take(String whole) {
                if (whole.startsWith(RUN)) {
                    running = Optional.of(whole.substring(RUN.length()));
                    began = clock.getAsLong();
                } else if (whole.startsWith(OK)) {
                    end(whole.substring(OK.length()), Optional.empty());
                } else if (whole.startsWith(FAILED)) {
                    String rest = whole.substring(FAILED.length());
                    int colon = rest.indexOf(": ");
                    end(
                            colon < 0 ? rest : rest.substring(0, colon),
                            Optional.of(colon < 0 ? "it failed" : rest.substring(colon + 2)));
                }
            }

            private void end(String name, Optional<String> failure) {
                running = Optional.empty();
                cases.add(new TestReport.Case(name, Duration.ofNanos(clock.getAsLong() - began), failure));
            }

            /**
             * The tests that ran.
             *
             * @param ending how the program ended; if a test was running, it failed with this
             */
            List<TestReport.Case> cases(String ending) {
                List<TestReport.Case> all = new ArrayList<>(cases);
                running.ifPresent(name -> all.add(
                        new TestReport.Case(name, Duration.ofNanos(clock.getAsLong() - began), Optional.of(ending))));
                return all;
            }
        }
    }

    /**
     * The board's emulator, its stand-in's, or this computer.
     *
     * @param build what is under test
     * @param image what runs
     * @param logs folder of the programs' output
     */
    private record EmulatorMachine(ResolvedBuild build, RunnableImage image, Path logs) implements ProgramMachine {
        private static final Duration TO_END = Duration.ofSeconds(2);

        /** The machine of a build, whose image is linked. */
        static EmulatorMachine of(Log log, ResolvedBuild build, Path logs) {
            return new EmulatorMachine(build, RunnableImage.asBuilt(log, build), logs);
        }

        @Override
        public String name() {
            return RunnableImage.name(build, emulator("", Duration.ZERO));
        }

        private Emulator emulator(String test, Duration limit) {
            return new Emulator(
                    image.board(),
                    limit,
                    Optional.of(logs.resolve(test + ".log")),
                    build.spec().semihosting());
        }

        @Override
        public Result run(ProgramScript script) {
            try (WatchedProgram program =
                    emulator(script.name(), script.limit().plus(TO_END)).watch(image.file())) {
                return ProgramTest.run(script, of(program, image), text -> {});
            }
        }

        /** A program in an emulator or on this computer, whose process ends with it. */
        static ProgramRun of(WatchedProgram program, RunnableImage image) {
            return new ProgramRun(
                    program.output(),
                    program.process().input(),
                    image.file(),
                    () -> program.process().waitFor(TO_END).map(OptionalInt::of).orElse(OptionalInt.empty()),
                    program::stackUse);
        }
    }
}
