// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A component of a record that results do not depend on, so that no {@link Fingerprint} has it. All other components are inputs. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface NoInput {
    /** The results that do not depend on it, by the name of their step; empty for all. */
    String[] of() default {};

    /** Why they are the same whatever its value. */
    String because();
}
