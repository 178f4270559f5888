// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Files that lie beside the project and are not part of it: golden models, texts of TVM.
 *
 * <p>A checkout without the folder runs its tests all the same. What needs a file of it says so with {@link NeedsShared} and is
 * skipped before it begins. Where the folder exists, a build server ({@code CI=true}) fails if something is missing in it.
 */
public final class SharedFolder {
    /** The folder beside the project; the property names another one, which need not exist. */
    public static final Path ROOT = Path.of(System.getProperty("kiln.test.shared", "../shared"));

    /** On every test that looks into the folder, whether it is skipped without or only gets less input: {@code .ci/run} runs them once more without. */
    public static final String TAG = "shared";

    /** How the reason of a test begins that is skipped because the folder is missing. */
    static final String SKIPPED = "Skipped: this test needs the shared folder beside the project, ";

    private SharedFolder() {}

    /** A folder in the shared folder, which the test said that it needs. */
    public static Path need(String name) {
        return find(name)
                .orElseThrow(() -> new AssertionError("There is no folder " + ROOT.resolve(name)
                        + ". The test has to say that it reads it: @NeedsShared(\"" + name
                        + "\") on the method or the class,"
                        + " or it uses one of OwnModel, which are always there."));
    }

    /** A folder in the shared folder if it is there: for what only gets more input by it. */
    public static Optional<Path> find(String name) {
        return Optional.of(ROOT.resolve(name)).filter(Files::isDirectory);
    }
}
