package repository

import (
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/internal/quota"
	"labshelf/repository/internal/rows"
)

// At tells, before the body is read, whether the caller may put a file at a path of the drive.
// check gets what is at the path, whose File is nil for a free path, and returns why the file is
// not to be put.
func (u *FormUpload) At(ctx context.Context, path DrivePath, check func(*DriveEntry) error) error {
	return u.service.view(ctx, u.caller, func(tx *metadata.Tx, p auth.Principal) error {
		at, err := locate(tx, p, path, auth.Write)
		if err != nil {
			return err
		}
		if err := at.puttable(check); err != nil {
			return err
		}
		return u.reserve(tx, quota.Place{Dataspace: at.Set.DataspaceID, User: p.UserID})
	})
}

// puttable tells why no file can be put at a path.
func (e DriveEntry) puttable(check func(*DriveEntry) error) error {
	if e.File == nil {
		if err := e.free(); err != nil {
			return err
		}
	}
	return check(&e)
}

// Put puts the file at a path of the drive, as it is when the body has come: it replaces the file
// that is there, of which all is kept that is said about it, or makes a resource whose name is the
// path. Of the fields, what describes the body counts.
func (u *FormUpload) Put(ctx context.Context, path DrivePath, f UploadFields, check func(*DriveEntry) error) (put metadata.Resource, created bool, err error) {
	err = u.commit(ctx, func(tx *metadata.Tx, p auth.Principal) (write func() error, err error) {
		at, err := locate(tx, p, path, auth.Write)
		if err == nil {
			err = at.puttable(check)
		}
		if err != nil {
			return nil, err
		}
		f := f
		if created = at.File == nil; !created {
			f.Name, f.Format, f.Description, f.Filename = &at.File.Name, &at.File.Format, &at.File.Description, at.File.Filename
		} else {
			f.Name, f.Filename = &at.Name, at.Element
		}
		file, err := u.describe(f)
		if err == nil {
			err = f.Attributes.check()
		}
		if err != nil {
			return nil, err
		}
		save := u.replaceAt
		if created {
			save = u.makeAt
		}
		saved, err := save(ctx, tx, p, at, file, &put)
		return func() error { return errors.Join(saved(), f.Attributes.store(tx, put)) }, err
	})
	return put, created, err
}

func (u *FormUpload) makeAt(ctx context.Context, tx *metadata.Tx, p auth.Principal, at DriveEntry, file metadata.Resource, put *metadata.Resource) (write func() error, err error) {
	file.SetID, file.DataspaceID = at.Set.ID, at.Set.DataspaceID
	if err := u.service.conform(ctx, tx, arriving("", &file)); err != nil {
		return nil, err
	}
	return func() error {
		made := file
		made.Record = newRecord(tx, p)
		err := errors.Join(putResource(tx, rows.Change{By: p, Action: audit.ResourceCreate}, nil, &made), u.record(tx, made))
		*put = made
		return err
	}, nil
}

func (u *FormUpload) replaceAt(ctx context.Context, tx *metadata.Tx, p auth.Principal, at DriveEntry, file metadata.Resource, put *metadata.Resource) (write func() error, err error) {
	resolved, err := lookupResource(tx, at.File.ID.String())
	if err == nil {
		err = resolved.admit(tx, p, auth.Write)
	}
	if err != nil {
		return nil, err
	}
	next := nextVersion(resolved.shown(), file)
	if err := u.service.conform(ctx, tx, arriving(next.Descriptive, &next)); err != nil {
		return nil, err
	}
	return func() error {
		r := next
		err := errors.Join(resolved.write(tx, rows.Change{By: p, Action: audit.ResourceReplace}, &r), u.record(tx, r))
		*put = r
		return err
	}, nil
}
