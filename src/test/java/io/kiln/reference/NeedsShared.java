// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Says that a test, or every test of a class, reads the shared folder: where that is missing it is skipped before it begins.
 * {@link SharedFilesTest} finds tests that read it without saying so.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag(SharedFolder.TAG)
@ExtendWith(SharedFolderCondition.class)
public @interface NeedsShared {
    /** Names of the folders in it that are read. */
    String[] value();
}
