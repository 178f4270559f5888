// SPDX-License-Identifier: Apache-2.0
/** The Maven face: goals that read parameters, call {@code io.kiln.flow}, attach files and report. */
package io.kiln.maven;
