// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.device.fault.StackUse;
import io.kiln.device.lease.Lease;
import io.kiln.device.transport.TimedInput;
import io.kiln.device.transport.Transport;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.device.BoardUse;
import io.kiln.flow.device.FlashStep;
import io.kiln.flow.device.Leases;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.MachineSpec;
import io.kiln.flow.spec.TestSpec;
import io.kiln.flow.state.Steps;
import io.kiln.report.JUnitXml;
import io.kiln.report.TestReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
import java.util.function.Function;
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
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.anyMatch(Files::isRegularFile);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
}
