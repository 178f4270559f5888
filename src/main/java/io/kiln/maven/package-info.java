// SPDX-License-Identifier: Apache-2.0
/** Maven goals: they read parameters, call {@code io.kiln.flow}, attach files and report. */
package io.kiln.maven;
