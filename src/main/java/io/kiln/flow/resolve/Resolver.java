// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.CodeSpec;
import io.kiln.target.TargetKind;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.ClangObjects;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.Toolchains;
import java.util.List;
import java.util.Optional;

/** Finds the board and the toolchain of a build, and reports all errors at once. */
public final class Resolver {
    private final ToolchainEnvironment environment;
    private final Problems problems = new Problems(Failure.CONFIG);
    private final Problems missing = new Problems(Failure.CONFIG);

    public Resolver(ToolchainEnvironment environment) {
        this.environment = environment;
    }

    /**
     * The build with its board and toolchain.
     *
     * @throws KilnException if names, files, board or toolchain are wrong or missing
     */
    public ResolvedBuild resolve(BuildSpec spec) {
        ResolvedBuild build = resolveAhead(spec);
        missing.throwIfAny();
        return build;
    }

    /**
     * As {@link #resolve}, before other plugins have run: missing files go to {@link #missing}, unless there are other
     * errors; then they are among them.
     */
    public ResolvedBuild resolveAhead(BuildSpec spec) {
        SpecChecks.check(spec, problems, missing);
        Boards boards = spec.boards();
        Optional<Board> board = problems.read(() -> TargetChoice.of(boards.find(spec.board()), spec.codegens())
                .compiledWith(spec.image().compilerFlags()));
        board.map(found -> BoardPools.problems(found, spec.compiler().memoryLimits()))
                .ifPresent(found -> found.forEach(problems::add));
        Optional<Toolchain> toolchain = board.flatMap(found -> problems.read(() -> toolchain(spec, found)));
        Optional<ClangObjects> objects = toolchain.isPresent() && isOfObjects(board.orElseThrow())
                ? problems.read(() -> objects(spec, board.orElseThrow()))
                : Optional.empty();
        if (!problems.isEmpty()) {
            missing.list().forEach(problems::add);
        }
        problems.throwIfAny();
        ResolvedBuild build = new ResolvedBuild(
                spec,
                spec.image().code().own().replaceIn(board.orElseThrow()),
                boards.emulated(board.orElseThrow()),
                toolchain.orElseThrow(),
                objects);
        NpuFit.problems(build).forEach(problems::add);
        VelaChecks.check(build, problems);
        problems.throwIfAny();
        return build;
    }

    /** Missing files that another plugin may still create. */
    public Problems missing() {
        return missing;
    }

    private Toolchain toolchain(BuildSpec spec, Board board) {
        TargetOptions target = TargetOptions.parse(board.target());
        Toolchain toolchain = Toolchains.resolve(ToolchainChoice.of(spec.toolchain(), board), target, environment);
        CodeSpec code = spec.image().code();
        Toolchain withC = Toolchains.with(code.flags().libc(), toolchain, target, environment);
        Toolchain complete = code.mayHaveCplusplus(spec.layout(), board)
                ? Toolchains.forCplusplus(withC, target, environment)
                : withC;
        boolean hasStrangers = spec.models().stream()
                .anyMatch(model -> ModelArchives.isStranger(
                        model.file(), spec.image().options().trusted()));
        return hasStrangers ? Toolchains.forStrangers(complete, environment) : complete;
    }

    private static boolean isOfObjects(Board board) {
        return TargetText.kind(board.target()).equals(TargetKind.LLVM.text());
    }

    /** The compiler of objects for a board. It takes the board's flags without those that name folders, which are for the board's own sources. */
    private ClangObjects objects(BuildSpec spec, Board board) {
        List<String> flags = board.building().compile().stream()
                .filter(flag -> !flag.startsWith("-I"))
                .toList();
        return ClangObjects.of(board.target(), spec.optimize(), flags, environment);
    }
}
