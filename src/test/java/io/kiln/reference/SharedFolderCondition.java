// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Skips what {@link NeedsShared} is written on where there is no shared folder. */
final class SharedFolderCondition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return AnnotationSupport.findAnnotation(context.getElement(), NeedsShared.class)
                .map(needs -> evaluate(SharedFolder.ROOT, List.of(needs.value()), "true".equals(System.getenv("CI"))))
                .orElseGet(() -> ConditionEvaluationResult.enabled("reads no shared folder"));
    }

    /**
     * Whether the folders are there.
     *
     * @throws IllegalStateException if a build server has the shared folder without one of them
     */
    static ConditionEvaluationResult evaluate(Path root, List<String> names, boolean isBuildServer) {
        List<Path> missing = names.stream()
                .map(root::resolve)
                .filter(folder -> !Files.isDirectory(folder))
                .toList();
        if (missing.isEmpty()) {
            return ConditionEvaluationResult.enabled("the shared folder has " + names);
        }
        if (isBuildServer && Files.isDirectory(root)) {
            throw new IllegalStateException(
                    "The shared folder " + root + " is there, but of it " + missing + " is missing.");
        }
        return ConditionEvaluationResult.disabled(SharedFolder.SKIPPED + missing + ".");
    }
}
