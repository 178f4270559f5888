// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Describes a failure that no code handles: the computer ran out of something, or Kiln has a bug. */
public final class UnforeseenFailure {
    private static final String OWN_PACKAGE = "io.kiln.";

    private final List<Throwable> chain;

    private UnforeseenFailure(Throwable failure) {
        chain = chain(failure);
    }

    /**
     * The failure as a message for users.
     *
     * @param failure what was thrown; if one of its causes is a {@link KilnException}, that is returned
     */
    public static KilnException told(Throwable failure) {
        return new UnforeseenFailure(failure).told();
    }

    private KilnException told() {
        Optional<KilnException> known = first(KilnException.class);
        if (known.isPresent()) {
            return known.get();
        }
        return new KilnException(
                outOfMemory()
                        .or(this::stackOverflow)
                        .or(this::path)
                        .or(this::files)
                        .orElseGet(this::bug),
                chain.get(0));
    }

    private Optional<Problem> outOfMemory() {
        return first(OutOfMemoryError.class)
                .map(error -> Failure.COMPUTER.problem(
                        "Java is out of memory (" + error.getMessage() + ")",
                        "",
                        "",
                        "Give Maven more, for example with MAVEN_OPTS=-Xmx4g, and run it again"));
    }

    private Optional<Problem> stackOverflow() {
        return first(StackOverflowError.class)
                .map(error -> Failure.COMPUTER.problem(
                        "Java's stack overflowed in " + origin(error) + ": an input is nested too deeply",
                        "",
                        "",
                        "Give Maven a larger stack, for example with MAVEN_OPTS=-Xss16m. If that does not help, "
                                + report()));
    }

    private Optional<Problem> path() {
        return first(InvalidPathException.class)
                .map(error -> Failure.FILE.problem(
                        "not a valid path on this computer (" + error.getReason() + ")",
                        error.getInput(),
                        "",
                        "Use another name; for letters beyond ASCII, run Maven with a locale that has them, such as"
                                + " LC_ALL=C.UTF-8"));
    }

    /** A failed read or write: the innermost exception has the reason, the outermost one names the file. */
    private Optional<Problem> files() {
        Optional<IOException> last = chain.stream()
                .filter(IOException.class::isInstance)
                .map(IOException.class::cast)
                .reduce((a, b) -> b);
        if (last.isEmpty() && first(ReadOnlyFileSystemException.class).isPresent()) {
            return Optional.of(Failure.FILE.problem(
                    "the file system is read-only", place(), "", "Choose another folder, or make it writable"));
        }
        return last.map(cause -> Failure.FILE.problem(FileFailure.reason(cause), place(), "", advice(cause)));
    }

    private String place() {
        return chain.stream()
                .filter(each -> each.getMessage() != null && !each.getMessage().equals(String.valueOf(each.getCause())))
                .findFirst()
                .map(Throwable::getMessage)
                .orElse("");
    }

    private static String advice(IOException cause) {
        String advice = FileFailure.advice(cause);
        return advice.isEmpty() ? "Run the same command again; with -e Maven shows where it happened" : advice;
    }

    private Problem bug() {
        Throwable last = chain.get(chain.size() - 1);
        String said = last.getMessage() == null ? "" : ": " + last.getMessage();
        String report = report();
        return Failure.BUG.problem(
                "this is a bug in Kiln " + PluginVersion.text() + ": "
                        + last.getClass().getSimpleName() + said + ", in " + origin(last),
                "",
                "",
                Character.toUpperCase(report.charAt(0)) + report.substring(1));
    }

    private static String report() {
        return "report it to the authors of io.kiln:kiln-maven-plugin (README.md, section \"When Kiln fails\")"
                + " with the output of the same command with -e and, if you may share it, the model";
    }

    /** The method of Kiln that was running; without one, the innermost method. */
    private static String origin(Throwable failure) {
        List<StackTraceElement> trace = List.of(failure.getStackTrace());
        return trace.stream()
                .filter(each -> each.getClassName().startsWith(OWN_PACKAGE))
                .findFirst()
                .or(() -> trace.stream().findFirst())
                .map(each -> each.getClassName() + "." + each.getMethodName() + ", line " + each.getLineNumber())
                .orElse("an unknown place");
    }

    private <T extends Throwable> Optional<T> first(Class<T> type) {
        return chain.stream().filter(type::isInstance).map(type::cast).findFirst();
    }

    private static List<Throwable> chain(Throwable failure) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        List<Throwable> chain = new ArrayList<>();
        for (Throwable each = failure; each != null && seen.add(each); each = each.getCause()) {
            chain.add(each);
        }
        return chain;
    }
}
