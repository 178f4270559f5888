// SPDX-License-Identifier: Apache-2.0
/** The only place that starts processes: always an argument list, never a shell, always a time limit. */
package io.kiln.process;
