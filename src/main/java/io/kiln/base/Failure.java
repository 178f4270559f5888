// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The families of failures that users see. Each has a stable id, such as {@code KILN-BOARD}, and a section of the page "When Kiln fails"
 * under that id; every {@link Problem} belongs to one.
 */
public enum Failure {
    CONFIG("A parameter has a value that it cannot have, names a file that does not exist, or contradicts another"),
    PROJECT("A goal needs what an earlier goal writes, or a folder belongs to another build"),
    FILE("A file or folder cannot be read or written"),
    COMPUTER("The computer or Java ran out of something, or the build was interrupted"),
    BUG("Kiln has a bug"),
    MODEL("The model's file cannot be read, or what it says does not fit together"),
    OPERATOR("The model has an operator, or a form of one, that Kiln does not compute"),
    QUANTIZE("The model cannot be quantized with these samples and labels"),
    SAMPLES("Pictures or recordings, or what says how they become inputs, cannot be used"),
    AUDIO("The description of a signal's processing, or a recording, cannot be used"),
    MEMORY("Something does not fit in the memory"),
    BUDGET("A figure of the build exceeds its budget, or there is no earlier build to compare with"),
    BOARD("There is no such board, or its description is wrong"),
    YAML("A description in YAML cannot be read"),
    TARGET("The target cannot be used, or does not fit the board"),
    TOOL("A compiler, an emulator or another program is missing, or does not work"),
    CODE("The C of the project does not compile or link"),
    LIBRARY("A library of C, such as CMSIS-NN, is missing or does not fit the core"),
    TRUST("Code, a file or a request is refused because it is not trusted"),
    ARCHIVE("An archive of a model, a module or an artifact cannot be read or written"),
    EXTENSION("A code generator, a loader or an inspector of others failed"),
    RUN("The image stopped, fell silent or ended otherwise than it should"),
    VERIFY("The image computes something else than expected, or there is nothing to verify it with"),
    TEST("A test of the program failed, or cannot run"),
    PROFILE("Instructions or times cannot be measured"),
    TUNE("Tuning cannot run, or its records cannot be read"),
    DEVICE("A board, its probe or its serial port cannot be reached"),
    FLASH("Flashing a board failed"),
    UPDATE("An update of models cannot be made or read"),
    RPC("A session with a server on the board failed"),
    API("A Project API server, or one of its projects, failed"),
    FARM("The farm cannot be reached, refuses something or gave a job up");

    private final String title;

    Failure(String title) {
        this.title = title;
    }

    /** The stable id that the build prints. */
    public String id() {
        return "KILN-" + name();
    }

    /** What has happened, in one sentence without its full stop. */
    public String title() {
        return title;
    }

    /** A problem of this family, in the four parts of {@link Problem}. */
    public Problem problem(String what, String where, String expected, String next) {
        return new Problem(this, what, where, expected, next);
    }

    /** A problem about which nothing is advised. */
    public Problem problem(String what, String where, String expected) {
        return problem(what, where, expected, "");
    }

    /** A problem of this family with only a statement and a place. */
    public Problem problem(String what, String where) {
        return problem(what, where, "", "");
    }

    /** The exception of one problem of this family, in the four parts of {@link Problem}. */
    public KilnException exception(String what, String where, String expected, String next) {
        return new KilnException(problem(what, where, expected, next));
    }

    /** The exception of a problem about which nothing is advised. */
    public KilnException exception(String what, String where, String expected) {
        return new KilnException(problem(what, where, expected));
    }

    /** The exception of a problem with only a statement and a place. */
    public KilnException exception(String what, String where) {
        return new KilnException(problem(what, where));
    }

    /** The line with which the build tells where to read on: the ids of all problems, each once, in the order found. */
    static String told(List<Problem> problems) {
        return problems.stream()
                .map(problem -> problem.family().id())
                .distinct()
                .collect(Collectors.joining(", ", "See ", " in \"When Kiln fails\"."));
    }
}
