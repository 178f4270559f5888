// SPDX-License-Identifier: Apache-2.0
/** Code generators: functions of the loop IR become files. Which one is asked follows from the kind of the target. */
package io.kiln.codegen;
